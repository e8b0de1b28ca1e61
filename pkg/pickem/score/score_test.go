package score_test

import (
	"fmt"
	"strings"
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
)

// cardOf returns a card of matches of three teams, for 10, 20, 30… points, with these
// results. noResult stands for no result.
func cardOf(results ...int) (card []item.Match) {
	for i, r := range results {
		m := item.Match{ID: pickemtest.MatchID(i + 1), Points: 10 * (i + 1), Teams: []item.Team{{ID: "t1"}, {ID: "t2"}, {ID: "t3"}}, Since: 1}
		if r != noResult {
			m.Result = &r
		}

		card = append(card, m)
	}

	return card
}

const noResult = -2

// TestPointsOfAPrediction: a correct pick brings the points of the match, a void match none, and
// correct picks of all other matches the bonus.
func TestPointsOfAPrediction(t *testing.T) {
	t.Parallel()

	all := pickemtest.PicksOf
	changed := cardOf(0, 1, 2)
	changed[1].Since = 3
	fewer := cardOf(0, 1, 1)

	fewer[2].Teams = fewer[2].Teams[:2]
	for _, c := range []struct {
		name                   string
		card                   []item.Match
		bonus                  int
		picks                  map[string]string
		points, correct, extra int
		brought                string // by match
	}{
		{"all right", cardOf(0, 1, 2), 0, all(0, 1, 2), 60, 3, 0, "10 20 30"},
		{"all right, with a bonus", cardOf(0, 1, 2), 5, all(0, 1, 2), 65, 3, 5, "10 20 30"},
		{"one wrong", cardOf(0, 1, 2), 5, all(0, 0, 2), 40, 2, 0, "10 0 30"},
		{"all wrong", cardOf(0, 1, 2), 5, all(2, 2, 1), 0, 0, 0, "0 0 0"},
		{"one not picked", cardOf(0, 1, 2), 5, all(0, 1), 30, 2, 0, "10 20 0"},
		{"nothing picked", cardOf(0, 1, 2), 5, nil, 0, 0, 0, "0 0 0"},
		{"a void match counts for nobody", cardOf(0, item.Void, 2), 0, all(0, 1, 2), 40, 2, 0, "10 0 30"},
		{"and against nobody", cardOf(0, item.Void, 2), 5, all(0, 1, 2), 45, 2, 5, "10 0 30"},
		{"nor if it is not picked", cardOf(0, 1, item.Void), 5, all(0, 1), 35, 2, 5, "10 20 0"},
		{"with all void nobody is perfect", cardOf(item.Void, item.Void), 5, all(0, 1), 0, 0, 0, "0 0"},
		{"nor with an empty card", nil, 5, nil, 0, 0, 0, ""},
		{"a match without a result is not yet counted", cardOf(0, noResult), 0, all(0, 1), 10, 1, 0, "10 0"},
		{"a pick from before the teams changed is void", changed, 5, all(0, 1, 2), 40, 2, 0, "10 0 30"},
		{"a team that is not there", fewer, 5, all(0, 1, 2), 30, 2, 0, "10 20 0"},
		{"a match that is not on the card", cardOf(0), 5, all(0, 1), 15, 1, 5, "10"},
	} {
		got := score.Of(item.Event{Bonus: c.bonus}, c.card, item.Prediction{Predictions: c.picks, CardRev: 2})

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

// TestSum: the standings of a year are the sum of the scored predictions of its events.
func TestSum(t *testing.T) {
	t.Parallel()

	p := func(event, scoredAt string, points, correct int) item.Prediction {
		return item.Prediction{EventID: event, ScoredAt: scoredAt, Points: points, Correct: correct}
	}

	got := score.Sum("2026", []item.Prediction{
		p("2027-01-01-a", "x", 1000, 9), p("2026-12-31-b", "", 1000, 9), p("2026-05-01-c", "x", 0, 0), p("2026-04-01-d", "x", 30, 2),
		p("2026-01-01-e", "x", 10, 1), p("2025-12-31-f", "x", 1000, 9),
	})
	if want := (item.Tally{Points: 40, Correct: 3, Played: 3, LastEvent: "2026-05-01-c", LastPoints: 0}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}

	if got := score.Sum("2026", nil); got != (item.Tally{}) {
		t.Errorf("the sum of no predictions is %+v, want zero", got)
	}
}
