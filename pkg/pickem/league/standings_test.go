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

// TestRankStandings: ranks are dense, members with equal points are in order of name, and
// movement is the change of rank by the last event that any member played.
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
		{"no members", nil, nil},
		{"equal points in order of name, ignoring case", []item.Standing{s("zoe", 5, 1, first, 5), s("Bob", 5, 1, first, 5), s("ann", 5, 1, first, 5), s("Cat", 7, 1, first, 7)},
			[]string{"1 Cat", "2 ann", "2 Bob", "2 zoe"}},
		{"ranks are dense", []item.Standing{s("a", 9, 1, first, 9), s("b", 9, 1, first, 9), s("c", 8, 1, first, 8), s("d", 7, 1, first, 7), s("e", 7, 1, first, 7)},
			[]string{"1 a", "1 b", "2 c", "3 d", "3 e"}},
		{"new leader", []item.Standing{s("a", 30, 2, last, 20), s("b", 25, 2, last, 5), s("c", 15, 2, last, 0)},
			[]string{"1 a +2", "2 b -1", "3 c -1"}},
		{"member without the last event is overtaken", []item.Standing{s("a", 20, 1, first, 20), s("b", 25, 2, last, 15)},
			[]string{"1 b +1", "2 a -1"}},
		{"new member has no movement and changes none", []item.Standing{s("a", 20, 2, last, 10), s("b", 5, 2, last, 0), s("new", 10, 1, last, 10)},
			[]string{"1 a +0", "2 new", "3 b -1"}},
		{"drawing level is a movement up", []item.Standing{s("a", 20, 2, last, 5), s("b", 20, 2, last, 10)},
			[]string{"1 a +0", "1 b +1"}},
	} {
		var got []string
		for _, r := range league.RankStandings(c.rows) {
			line := fmt.Sprint(r.Rank, " ", r.Name)
			if r.Movement != nil {
				line += fmt.Sprintf(" %+d", *r.Movement)
			}
			got = append(got, line)
			if r.UserID != strings.ToLower(r.Name) {
				t.Errorf("%s: %s has the id %s", c.name, r.Name, r.UserID)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

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
	if w.Read(league.GetStandingsFunction, "/app/standings/2026?limit=1", "cat", &seen.Body); seen.Body.Count != 3 || len(seen.Body.Standings) != 1 || seen.Body.Mine.Rank != 3 {
		t.Errorf("a page of one for cat is %+v, want one of three standings and rank 3 for cat", seen.Body)
	}
	if out := w.Ask(league.GetStandingsFunction, "/app/standings/2025", "ann", ""); !strings.Contains(out.Body, `{"count":0,"standings":[]}`) {
		t.Errorf("standings of a year without events: %s, want an empty list", out.Body)
	}
}
