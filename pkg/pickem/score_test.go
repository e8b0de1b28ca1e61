package pickem

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// cardOf is a card of matches of three, worth 10, 20, 30… points, with these
// results; noResult is none yet.
func cardOf(results ...int) (card []match) {
	for i, r := range results {
		m := match{ID: matchID(i + 1), Points: 10 * (i + 1), Teams: make([]Team, 3), Since: 1}
		if r != noResult {
			m.Result = &r
		}
		card = append(card, m)
	}
	return card
}

const noResult = -2

// TestScore: a right pick brings the match's points, a void match nothing to
// anybody, and all of the rest right the bonus.
func TestScore(t *testing.T) {
	t.Parallel()
	all := func(teams ...int) map[string]int {
		picks := map[string]int{}
		for i, team := range teams {
			picks[matchID(i+1)] = team
		}
		return picks
	}
	changed := cardOf(0, 1, 2)
	changed[1].Since = 3
	fewer := cardOf(0, 1, 1)
	fewer[2].Teams = fewer[2].Teams[:2]
	for _, c := range []struct {
		name                   string
		card                   []match
		bonus                  int
		picks                  map[string]int
		points, correct, extra int
		brought                string // by match
	}{
		{"all right", cardOf(0, 1, 2), 0, all(0, 1, 2), 60, 3, 0, "10 20 30"},
		{"all right, with a bonus", cardOf(0, 1, 2), 5, all(0, 1, 2), 65, 3, 5, "10 20 30"},
		{"one wrong", cardOf(0, 1, 2), 5, all(0, 0, 2), 40, 2, 0, "10 0 30"},
		{"all wrong", cardOf(0, 1, 2), 5, all(2, 2, 1), 0, 0, 0, "0 0 0"},
		{"one not picked", cardOf(0, 1, 2), 5, all(0, 1), 30, 2, 0, "10 20 0"},
		{"nothing picked", cardOf(0, 1, 2), 5, nil, 0, 0, 0, "0 0 0"},
		{"a void match counts for nobody", cardOf(0, void, 2), 0, all(0, 1, 2), 40, 2, 0, "10 0 30"},
		{"and against nobody", cardOf(0, void, 2), 5, all(0, 1, 2), 45, 2, 5, "10 0 30"},
		{"nor if it is not picked", cardOf(0, 1, void), 5, all(0, 1), 35, 2, 5, "10 20 0"},
		{"with all void nobody is perfect", cardOf(void, void), 5, all(0, 1), 0, 0, 0, "0 0"},
		{"nor with an empty card", nil, 5, nil, 0, 0, 0, ""},
		{"a match without a result is not yet counted", cardOf(0, noResult), 0, all(0, 1), 10, 1, 0, "10 0"},
		{"a pick from before the teams changed is void", changed, 5, all(0, 1, 2), 40, 2, 0, "10 0 30"},
		{"a team that is not there", fewer, 5, all(0, 1, 2), 30, 2, 0, "10 20 0"},
		{"a match that is not on the card", cardOf(0), 5, all(0, 1), 15, 1, 5, "10"},
	} {
		got := score(event{Bonus: c.bonus}, c.card, prediction{Predictions: c.picks, CardRev: 2})
		var brought []string
		for i, p := range got.Picks {
			brought = append(brought, fmt.Sprint(p.Points))
			if p.MatchID != c.card[i].ID || p.Correct != (p.Points > 0) || (*int)(p.Result) != c.card[i].Result {
				t.Errorf("%s: match %d is %+v", c.name, i, p)
			}
		}
		if got.Points != c.points || got.Correct != c.correct || got.Bonus != c.extra || strings.Join(brought, " ") != c.brought {
			t.Errorf("%s: %d points, %d right, a bonus of %d, by match %q", c.name, got.Points, got.Correct, got.Bonus, brought)
		}
	}
}

// TestSum: a year's standings are the scored predictions of events of that year.
func TestSum(t *testing.T) {
	t.Parallel()
	p := func(event, scoredAt string, points, correct int) prediction {
		return prediction{EventID: event, ScoredAt: scoredAt, Points: points, Correct: correct}
	}
	got := sum("2026", []prediction{
		p("2027-01-01-a", "x", 1000, 9), p("2026-12-31-b", "", 1000, 9), p("2026-05-01-c", "x", 0, 0), p("2026-04-01-d", "x", 30, 2), p("2026-01-01-e", "x", 10, 1), p("2025-12-31-f", "x", 1000, 9),
	})
	if want := (tally{Points: 40, Correct: 3, Played: 3, LastEvent: "2026-05-01-c", LastPoints: 0}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
	if got := sum("2026", nil); got != (tally{}) {
		t.Errorf("the sum of nothing is %+v", got)
	}
}

// TestRankStandings: ranks are dense, ties a to z, and movement is against the
// table as it was before the last event that anybody played.
func TestRankStandings(t *testing.T) {
	t.Parallel()
	const first, last = "2026-01-01-first", "2026-02-01-last"
	s := func(name string, points, played int, event string, brought int) standing {
		return standing{BelongsTo: ofUser(strings.ToLower(name)), Name: name, tally: tally{Points: points, Played: played, LastEvent: event, LastPoints: brought}}
	}
	for _, c := range []struct {
		name string
		rows []standing
		want []string // rank, name, movement
	}{
		{"nobody", nil, nil},
		{"ties are a to z, whatever the case", []standing{s("zoe", 5, 1, first, 5), s("Bob", 5, 1, first, 5), s("ann", 5, 1, first, 5), s("Cat", 7, 1, first, 7)},
			[]string{"1 Cat", "2 ann", "2 Bob", "2 zoe"}},
		{"ranks are dense", []standing{s("a", 9, 1, first, 9), s("b", 9, 1, first, 9), s("c", 8, 1, first, 8), s("d", 7, 1, first, 7), s("e", 7, 1, first, 7)},
			[]string{"1 a", "1 b", "2 c", "3 d", "3 e"}},
		{"a lead changes hands", []standing{s("a", 30, 2, last, 20), s("b", 25, 2, last, 5), s("c", 15, 2, last, 0)},
			[]string{"1 a +2", "2 b -1", "3 c -1"}},
		{"who did not play the last event is overtaken", []standing{s("a", 20, 1, first, 20), s("b", 25, 2, last, 15)},
			[]string{"1 b +1", "2 a -1"}},
		{"who is new was nowhere before, and in nobody's way", []standing{s("a", 20, 2, last, 10), s("b", 5, 2, last, 0), s("new", 10, 1, last, 10)},
			[]string{"1 a +0", "2 new", "3 b -1"}},
		{"to draw level is to move up", []standing{s("a", 20, 2, last, 5), s("b", 20, 2, last, 10)},
			[]string{"1 a +0", "1 b +1"}},
	} {
		var got []string
		for _, r := range rankStandings(c.rows) {
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
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
