package league_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/pkg/pickem/league"
)

// TestStandingsShowMovement: by the last event.
func TestStandingsShowMovement(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0, 0, pickemtest.SecretPick)
	w.Score(pickemtest.Show)

	var got []string
	for _, s := range w.Standings("2026") {
		got = append(got, fmt.Sprintf("%d %s %d %d/%d %+d", s.Rank, s.Name, s.Points, s.Correct, s.Played, *s.Movement))
	}

	if want := []string{"1 ann 45 4/2 +1", "2 bob 30 2/2 -1", "3 cat 0 0/2 +0"}; !slices.Equal(got, want) {
		t.Errorf("standings (-want +got):\n%s", cmp.Diff(want, got))
	}

	var seen league.StandingsScreen
	if w.Read(league.GetStandingsFunction(), "/app/standings/2026?limit=1", "cat",
		&seen.Body); seen.Body.Count != 3 || len(seen.Body.Standings) != 1 || seen.Body.Mine.Rank != 3 {
		t.Errorf("a page of one for cat is %+v, want one of three standings and rank 3 for cat", seen.Body)
	}

	if out := w.Ask(league.GetStandingsFunction(), "/app/standings/2025", "ann", ""); !strings.Contains(out.Body,
		`{"count":0,"standings":[]}`) {
		t.Errorf("standings of a year without events: %s, want an empty list", out.Body)
	}
}
