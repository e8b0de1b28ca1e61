package score_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// TestCodesOfResults: the same for all perspectives.
func TestCodesOfResults(t *testing.T) {
	t.Parallel()

	type codes struct {
		Code   score.Outcome
		Winner string
		Margin int
		Unit   string
	}

	for name, c := range map[string]struct {
		result score.Result
		want   codes
	}{
		"runs":               {score.Result{Kind: score.Won, WinnerID: "2", Runs: 23}, codes{"won", "2", 23, "runs"}},
		"wickets":            {score.Result{Kind: score.Won, WinnerID: "1", Wickets: 6, BallsLeft: 4}, codes{"won", "1", 6, "wickets"}},
		"an innings":         {score.Result{Kind: score.Won, WinnerID: "1", Innings: true, Runs: 53}, codes{"won", "1", 53, "innings"}},
		"awarded":            {score.Result{Kind: score.Won, WinnerID: "1", Method: "awarded"}, codes{"won", "1", 0, ""}},
		"a tie":              {score.Result{Kind: score.Tied}, codes{"tied", "", 0, ""}},
		"a super over":       {score.Result{Kind: score.Tied, WinnerID: "2", Decider: score.SuperOver}, codes{"tied", "2", 0, ""}},
		"a draw":             {score.Result{Kind: score.Drawn}, codes{"drawn", "", 0, ""}},
		"no result yet":      {score.Result{}, codes{}},
		"a margin too large": {score.Result{Kind: score.Won, WinnerID: "1", Runs: 1e9}, codes{"won", "1", 99999, "runs"}},
	} {
		s := live(score.T20, score.Innings{Runs: 150, Over: true})
		s.Phase, s.Result = sportmonks.Result, c.result

		for _, view := range []string{"", "1", "2"} {
			d := s.For(view)
			if diff := cmp.Diff(c.want, codes{d.ResultCode, d.WinnerID, d.Margin, d.Unit}); diff != "" {
				t.Errorf("%s for %q (-want +got):\n%s", name, view, diff)
			}
		}
	}
}

func TestCodesOfBreaks(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		phase  sportmonks.Phase
		status string
		want   string
	}{
		{sportmonks.Upcoming, "Not started", ""}, {sportmonks.Upcoming, "Start delayed", "delayed"},
		{sportmonks.Upcoming, "Postponed", "postponed"}, {sportmonks.Live, "Day 1", ""}, {sportmonks.Break, "Innings break", "innings"},
		{sportmonks.Break, "Lunch", "lunch"}, {sportmonks.Break, "Tea", "tea"}, {sportmonks.Break, "Dinner", "dinner"},
		{sportmonks.Stumps, "Stumps, day 2", "stumps"}, {sportmonks.Interrupted, "Play interrupted", "interrupted"},
		{sportmonks.Result, "Finished", ""}, {sportmonks.Closed, "Abandoned", ""},
	} {
		s := live(score.Test)
		s.Phase, s.Status = c.phase, c.status

		if got := s.For("").BreakCode; got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.phase, c.status, got, c.want)
		}
	}
}

func TestSpokenLine(t *testing.T) {
	t.Parallel()

	chase := live(score.T20, score.Innings{Runs: 182, Wickets: 8, Overs: "20", Over: true}, score.Innings{Runs: 45, Wickets: 3, Overs: "6.2", Target: 183})
	chase.Need = score.Need{TeamID: "2", Runs: 138, Balls: 82}
	test := live(score.Test, score.Innings{Runs: 391, Wickets: 9, Declared: true, Over: true}, score.Innings{Runs: 40, Wickets: 1, Overs: "12"})
	test.Lead = -351
	test.NameTeams()

	for name, c := range map[string]struct {
		s    score.State
		want string
	}{
		"a chase":           {chase, "Away 45 for 3 after 6.2 overs. Away need 138 runs from 82 balls."},
		"the first innings": {live(score.T20, score.Innings{Runs: 7, Overs: "1"}), "Home 7 for 0 after 1 over."},
		"all out":           {live(score.T20, score.Innings{Runs: 99, Wickets: 10, AllOut: true, Over: true, Overs: "15"}), "Home all out for 99."},
		"declared":          {live(score.Test, score.Innings{Runs: 391, Wickets: 9, Declared: true, Over: true}), "Home 391 for 9 declared."},
		"a lead":            {test, "Away 40 for 1 after 12 overs. Away trail by 351 runs."},
		"a break": {but(test, func(s *score.State) { s.Phase, s.Status = sportmonks.Stumps, "Stumps, day 2" }),
			"Away 40 for 1 after 12 overs. Away trail by 351 runs. Stumps, day 2."},
		"a result": {but(chase, func(s *score.State) {
			s.Phase, s.Result = sportmonks.Result, score.Result{Kind: score.Won, Text: "Away won by 6 wickets"}
		}), "Away won by 6 wickets."},
		"not confirmed": {but(chase, func(s *score.State) { s.Pending = true }), "Away 45 for 3 after 6.2 overs. Awaiting result."},
		"before": {but(live(score.T20), func(s *score.State) { s.Phase, s.Status = sportmonks.Upcoming, "Not started" }),
			"Home against Away. Not started."},
		"after the toss": {but(live(score.T20), func(s *score.State) { s.Toss = score.Toss{WinnerID: "2", Text: "Away won the toss"} }),
			"Home against Away. Away won the toss."},
	} {
		for _, view := range []string{"", "1", "2"} {
			if diff := cmp.Diff(c.want, c.s.For(view).Spoken); diff != "" {
				t.Errorf("%s for %q (-want +got):\n%s", name, view, diff)
			}
		}
	}
}

// TestLargestDisplay: with the longest texts and numbers, in play and after it, it is less than 2 KB.
func TestLargestDisplay(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("é", 300)
	innings := func(number int, team string) score.Innings {
		return score.Innings{Number: number, TeamID: team, Runs: 1e9, Wickets: 1e9, Overs: long, Target: 1e9}
	}
	s := score.State{
		Phase: sportmonks.Live, Format: score.Format(long), Status: long, Current: 4, FollowOn: true, RunRate: long, NeedRate: long,
		Local: score.Team{ID: "1", Name: long, Code: long}, Visitor: score.Team{ID: "2", Name: long, Code: long},
		Innings: []score.Innings{innings(1, "1"), innings(2, "2"), innings(3, "1"), innings(4, "2")},
		Need:    score.Need{TeamID: "2", Runs: 1e9, Balls: 1e9}, Target: score.Target{Runs: 1e9, Overs: long, Revised: true},
		LastSix: []string{long, long, long, long, long, long}, Bowler: score.Bowler{Name: long, Overs: long, Runs: 1e9, Wickets: 1e9},
		Batters: []score.Batter{
			{Name: long, Runs: 1e9, Balls: 1e9, Fours: 1e9, Sixes: 1e9, OnStrike: true},
			{Name: long, Runs: 1e9, Balls: 1e9, Fours: 1e9, Sixes: 1e9, OnStrike: true},
		},
		Partnership: score.Partnership{Runs: 1e9, Balls: 1e9}, LastWicket: score.Wicket{Name: long, Runs: 1e9, Balls: 1e9},
		Result: score.Result{Kind: score.Won, WinnerID: strings.Repeat("9", 30), Runs: 1e9, Text: long},
	}

	for _, phase := range []sportmonks.Phase{sportmonks.Live, sportmonks.Break, sportmonks.Interrupted, sportmonks.Result} {
		s.Phase = phase

		for _, view := range []string{"", "1", "2"} {
			b, err := json.Marshal(s.For(view))
			if err != nil || len(b) >= 2048 {
				t.Errorf("in %s for %q the display has %d bytes, error %v; want less than 2048: %s", phase, view, len(b), err, b)
			}

			t.Logf("%s: %d bytes", phase, len(b))
		}
	}
}
