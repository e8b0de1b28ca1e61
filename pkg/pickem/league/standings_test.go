package league_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
)

// TestRankStandings: ranks are dense, ties a to z, and movement is against the
// table as it was before the last event that anybody played.
func TestRankStandings(t *testing.T) {
	t.Parallel()
	const first, last = "2026-01-01-first", "2026-02-01-last"
	s := func(name string, points, played int, event string, brought int) item.Standing {
		return item.Standing{BelongsTo: item.UserRef(strings.ToLower(name)), Name: name, Tally: item.Tally{Points: points, Played: played, LastEvent: event, LastPoints: brought}}
	}
	for _, c := range []struct {
		name string
		rows []item.Standing
		want []string // rank, name, movement
	}{
		{"nobody", nil, nil},
		{"ties are a to z, whatever the case", []item.Standing{s("zoe", 5, 1, first, 5), s("Bob", 5, 1, first, 5), s("ann", 5, 1, first, 5), s("Cat", 7, 1, first, 7)},
			[]string{"1 Cat", "2 ann", "2 Bob", "2 zoe"}},
		{"ranks are dense", []item.Standing{s("a", 9, 1, first, 9), s("b", 9, 1, first, 9), s("c", 8, 1, first, 8), s("d", 7, 1, first, 7), s("e", 7, 1, first, 7)},
			[]string{"1 a", "1 b", "2 c", "3 d", "3 e"}},
		{"a lead changes hands", []item.Standing{s("a", 30, 2, last, 20), s("b", 25, 2, last, 5), s("c", 15, 2, last, 0)},
			[]string{"1 a +2", "2 b -1", "3 c -1"}},
		{"who did not play the last event is overtaken", []item.Standing{s("a", 20, 1, first, 20), s("b", 25, 2, last, 15)},
			[]string{"1 b +1", "2 a -1"}},
		{"who is new was nowhere before, and in nobody's way", []item.Standing{s("a", 20, 2, last, 10), s("b", 5, 2, last, 0), s("new", 10, 1, last, 10)},
			[]string{"1 a +0", "2 new", "3 b -1"}},
		{"to draw level is to move up", []item.Standing{s("a", 20, 2, last, 5), s("b", 20, 2, last, 10)},
			[]string{"1 a +0", "1 b +1"}},
	} {
		var got []string
		for _, r := range league.RankStandings(c.rows) {
			said := fmt.Sprint(r.Rank, " ", r.Name)
			if r.Movement != nil {
				said += fmt.Sprintf(" %+d", *r.Movement)
			}
			got = append(got, said)
			if r.UserID != strings.ToLower(r.Name) {
				t.Errorf("%s: %s is %s", c.name, r.Name, r.UserID)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// TestMovement: a table says who has climbed with the last event.
func TestMovement(t *testing.T) {
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
		t.Errorf("the table (-want +got):\n%s", cmp.Diff(want, got))
	}
	var seen league.StandingsScreen
	if w.Read(league.GetStandingsFunction, "/app/standings/2026?limit=1", "cat", &seen.Body); seen.Body.Count != 3 || len(seen.Body.Standings) != 1 || seen.Body.Mine.Rank != 3 {
		t.Errorf("cat sees %+v", seen.Body)
	}
	if out := w.Ask(league.GetStandingsFunction, "/app/standings/2025", "ann", ""); !strings.Contains(out.Body, `{"count":0,"standings":[]}`) {
		t.Errorf("an empty table is %s", out.Body)
	}
}
