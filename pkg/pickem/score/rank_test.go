package score_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
)

// namesOf returns names by id, which is the name in lower case.
func namesOf(names ...string) map[string]string {
	byID := map[string]string{}
	for _, n := range names {
		byID[strings.ToLower(n)] = n
	}

	return byID
}

// TestRankStandings: ranks are dense, by points, then correct picks, then fewer events. Equals
// are in order of name. Movement is the change of rank by the last event that any member played.
func TestRankStandings(t *testing.T) {
	t.Parallel()

	const first, last = "2026-01-01-first", "2026-02-01-last"

	tally := func(name string, of item.Tally) item.Standing {
		return item.Standing{BelongsTo: item.UserRef(strings.ToLower(name)), Tally: of}
	}

	s := func(name string, points, played int, event string, brought int) item.Standing {
		return tally(name, item.Tally{Points: points, Played: played, LastEvent: event, LastPoints: brought})
	}
	for _, c := range []struct {
		name string
		rows []item.Standing
		want []string // rank, name, movement
	}{
		{"no members", nil, nil},
		{"equal points in order of name, ignoring case",
			[]item.Standing{s("zoe", 5, 1, first, 5), s("Bob", 5, 1, first, 5), s("ann", 5, 1, first, 5), s("Cat", 7, 1, first, 7)},
			[]string{"1 Cat", "2 ann", "2 Bob", "2 zoe"}},
		{"ranks are dense", []item.Standing{s("a", 9, 1, first, 9), s("b", 9, 1, first, 9), s("c", 8, 1, first, 8),
			s("d", 7, 1, first, 7), s("e", 7, 1, first, 7)},
			[]string{"1 a", "1 b", "2 c", "3 d", "3 e"}},
		{"correct picks break a tie of points, and fewer events one of correct picks", []item.Standing{
			tally("a", item.Tally{Points: 20, Correct: 2, Played: 3, LastEvent: first, LastPoints: 9}),
			tally("b", item.Tally{Points: 20, Correct: 3, Played: 3, LastEvent: first, LastPoints: 9}),
			tally("c", item.Tally{Points: 20, Correct: 2, Played: 2, LastEvent: first, LastPoints: 9}),
			tally("d", item.Tally{Points: 21, Correct: 1, Played: 9, LastEvent: first, LastPoints: 9}),
			tally("e", item.Tally{Points: 20, Correct: 2, Played: 2, LastEvent: first, LastPoints: 9})},
			[]string{"1 d +0", "2 b +0", "3 c +0", "3 e +0", "4 a +0"}},
		{"new leader", []item.Standing{s("a", 30, 2, last, 20), s("b", 25, 2, last, 5), s("c", 15, 2, last, 0)},
			[]string{"1 a +2", "2 b -1", "3 c -1"}},
		{"the last event's correct picks break the tie", []item.Standing{
			tally("a", item.Tally{Points: 20, Correct: 3, Played: 2, LastEvent: last, LastPoints: 10, LastCorrect: 2}),
			tally("b", item.Tally{Points: 20, Correct: 2, Played: 2, LastEvent: last, LastPoints: 10, LastCorrect: 1})},
			[]string{"1 a +0", "2 b -1"}},
		{"member without the last event is overtaken", []item.Standing{s("a", 20, 1, first, 20), s("b", 25, 2, last, 15)},
			[]string{"1 b +1", "2 a -1"}},
		{"new member has no movement and changes none",
			[]item.Standing{s("a", 20, 2, last, 10), s("b", 5, 2, last, 0), s("new", 10, 1, last, 10)},
			[]string{"1 a +0", "2 new", "3 b -1"}},
		{"drawing level is a movement up", []item.Standing{s("a", 20, 2, last, 5), s("b", 20, 2, last, 10)},
			[]string{"1 a +0", "1 b +1"}},
		{"a user without a name has no rank", []item.Standing{s("gone", 20, 2, last, 5), s("b", 10, 2, last, 10)},
			[]string{"1 b +0"}},
	} {
		var got []string

		for _, r := range score.RankStandings(c.rows, namesOf("a", "b", "c", "d", "e", "ann", "Bob", "Cat", "zoe", "new")) {
			line := fmt.Sprint(r.Rank, " ", r.Name)
			if r.Movement != nil {
				line += fmt.Sprintf(" %+d", *r.Movement)
			}

			got = append(got, line)

			if r.UserID != strings.ToLower(r.Name) {
				t.Errorf("%s: %s has the id %s", c.name, r.Name, r.UserID)
			}
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestRankEntries: ranks are dense, by points, then correct picks. Equals are in order of name.
func TestRankEntries(t *testing.T) {
	t.Parallel()

	var all []item.Prediction
	for name, figures := range map[string][2]int{
		"zoe":  {10, 1},
		"ann":  {10, 1},
		"Bob":  {10, 2},
		"Cat":  {20, 1},
		"gone": {30, 3},
		"dan":  {0, 0},
	} {
		all = append(all, item.Prediction{BelongsTo: item.UserRef(strings.ToLower(name)), Points: figures[0], Correct: figures[1], ScoredAt: "x"})
	}

	all = append(all, item.Prediction{BelongsTo: item.UserRef("late")})

	for reveal, want := range map[bool][]string{
		false: {"1 Cat", "2 Bob", "3 ann", "3 zoe", "4 dan"},
		true:  {"1 Cat", "2 Bob", "3 ann", "3 zoe", "4 dan", "4 late"},
	} {
		var got []string
		for _, r := range score.RankEntries(item.Event{RevealAtLock: reveal}, nil, all, namesOf("zoe", "ann", "Bob", "Cat", "dan", "late")) {
			got = append(got, fmt.Sprint(r.Rank, " ", r.Name))
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ranks, revealed %v (-want +got):\n%s", reveal, diff)
		}
	}
}
