package replay_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/replay"
)

// TestScorecardOfAFile: the oracle's cells of a match, worked out by hand.
func TestScorecardOfAFile(t *testing.T) {
	t.Parallel()

	s := t20(2).bat(harbour, "1 .:caught 4 nb+2 wd 1lb . 1:run_out@ | . 6",
		doc{"penalty_runs": doc{"pre": 5}, "absent_hurt": []string{"Harbour 11"}}).ended(doc{"result": "no result"})

	got, err := replay.Scorecard(s.json())
	if err != nil {
		t.Fatal(err)
	}

	var innings []string

	for _, l := range got {
		if !strings.HasPrefix(l, "side ") {
			innings = append(innings, l)
		}
	}

	want := strings.Split(`venue: The Quay, Port
umpire: A Raised
umpire: B Finger
player of the match: Harbour 1
innings 1: 22/2 (1.2)
innings 1, batter 1: Harbour 1 1 (1), 0 fours, 0 sixes, rate 100.00, runOut, Substitute (substitute)
innings 1, batter 2: Harbour 2 0 (1), 0 fours, 0 sixes, rate 0.00, caught, Substitute (substitute), bowler Meadow 11
innings 1, batter 3: Harbour 3 13 (7), 1 fours, 1 sixes, rate 185.71, notOut
innings 1, batter 4: Harbour 4 0 (0), 0 fours, 0 sixes, rate , notOut
innings 1, batter 5: Harbour 11 0 (0), 0 fours, 0 sixes, rate , absentHurt
innings 1, did not bat 1: Harbour 5
innings 1, did not bat 2: Harbour 6
innings 1, did not bat 3: Harbour 7
innings 1, did not bat 4: Harbour 8
innings 1, did not bat 5: Harbour 9
innings 1, did not bat 6: Harbour 10
innings 1, extras: wd 1, nb 1, b 0, lb 1, p 5, in all 8
innings 1, wicket 1: Harbour 2 at 6 (0.2)
innings 1, wicket 2: Harbour 1 at 16 (0.6)
innings 1, partnership 1 for wicket 1: 1 (2), broken true, Harbour 1 1 (1), Harbour 2 0 (1)
innings 1, partnership 2 for wicket 2: 10 (5), broken true, Harbour 1 0 (0), Harbour 3 7 (5)
innings 1, partnership 3 for wicket 3: 6 (2), broken false, Harbour 3 6 (2), Harbour 4 0 (0)
innings 1, bowler 1: Meadow 11 1-0-10-1, wd 1, nb 1, economy 10.00
innings 1, bowler 2: Meadow 10 0.2-0-6-0, wd 0, nb 0, economy 18.00`, "\n")
	if diff := cmp.Diff(want, innings); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}
