package score_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// drawCard draws a card with results, and a prediction of it by all rules, some of which is void.
func drawCard(rt *rapid.T) ([]item.Match, item.Prediction) {
	var card []item.Match

	p := item.Prediction{CardRev: 2, Predictions: map[string]string{}, Weights: map[string]int{}}
	n := rapid.IntRange(1, 12).Draw(rt, "matches")
	weights := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
		for i := range n + 3 { // some are too large for the card
			if !yield(i + 1) {
				return
			}
		}
	})).Draw(rt, "weights")

	for i := range n {
		m := item.Match{
			ID: fmt.Sprint("m", i), Points: rapid.IntRange(0, 40).Draw(rt, "points"), Since: rapid.IntRange(1, 3).Draw(rt, "since"),
			Teams: []item.Team{{ID: "t1"}, {ID: "t2"}},
		}
		if r := rapid.SampledFrom([]int{0, 1, item.Void, 9}).Draw(rt, "result"); r != 9 {
			m.Result = &r
		}

		card = append(card, m)

		if rapid.IntRange(0, 3).Draw(rt, "picked") == 0 {
			continue
		}

		p.Predictions[m.ID] = rapid.SampledFrom([]string{"t1", "t2", "t9"}).Draw(rt, "team")
		if rapid.Bool().Draw(rt, "weighted") {
			p.Weights[m.ID] = weights[i]
		}

		if rapid.Bool().Draw(rt, "joker") {
			p.Joker = m.ID
		}
	}

	return card, p
}

// TestRulesOfPoints: for any card and prediction, weights are of valid picks, differ, and are from 1
// to the number of matches; a valid weight is kept; a right pick brings its weight, or its points; the
// joker adds what its pick brings; all together is at most Worth. Without rules nothing of the
// prediction's rules counts.
func TestRulesOfPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		card, p := drawCard(rt)
		picks := p.Picks(card)

		plain := score.Of(item.Event{}, card, item.Prediction{CardRev: p.CardRev, Predictions: p.Predictions})
		if diff := cmp.Diff(plain, score.Of(item.Event{}, card, p)); diff != "" {
			rt.Errorf("without rules (-want +got):\n%s", diff)
		}

		for _, rules := range []item.Rules{{Confidence: true}, {Joker: true}, {Confidence: true, Joker: true}} {
			e := item.Event{Rules: rules}
			sheet := score.Of(e, card, p)
			used, sum := map[int]bool{}, 0

			for i, pick := range sheet.Picks {
				_, valid := picks[card[i].ID]
				if w := pick.Weight; rules.Confidence && valid && (w < 1 || w > len(card) || used[w]) || w != 0 && (!rules.Confidence || !valid) {
					rt.Errorf("%+v: the pick %+v has a weight that is used, or none of 1 to %d", rules, pick, len(card))
				}

				if given := p.Weights[card[i].ID]; rules.Confidence && valid && given >= 1 && given <= len(card) && pick.Weight != given {
					rt.Errorf("the weight %d became %d", given, pick.Weight)
				}

				used[pick.Weight] = true

				want := 0
				if pick.Correct {
					if want = card[i].Points; rules.Confidence {
						want = pick.Weight
					}

					if rules.Joker && p.Joker == card[i].ID {
						want *= 2
					}
				}

				if pick.Points != want || pick.Joker != (rules.Joker && valid && p.Joker == card[i].ID) {
					rt.Errorf("%+v: the pick %+v of %+v, want %d points", rules, pick, card[i], want)
				}

				sum += pick.Points
			}

			if sheet.Points != sum || sheet.Correct != plain.Correct || sum > rules.Worth(card) {
				rt.Errorf("%+v: %d points and %d right, want %d of at most %d, and %d", rules, sheet.Points, sheet.Correct, sum,
					rules.Worth(card), plain.Correct)
			}
		}
	})
}

// TestSurvivorsOfASeason: whatever results are entered, corrected and cleared in whatever order, a
// member is out with the first event whose survivor pick is wrong, and has the right picks before it.
func TestSurvivorsOfASeason(t *testing.T) {
	t.Parallel()

	const events, steps = 3, 7

	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			w := pickemtest.New(t)
			w.AddMembers("ann", "bob")

			var ids []string

			picks := map[string]map[string]int{"ann": {}, "bob": {}} // the place of the survivor pick, by event

			for n := range events {
				id := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, n+1), fmt.Sprint("show-", n), 2)
				w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(id), `{"survivor":true}`)

				ids = append(ids, id)

				for user := range picks {
					place := r.IntN(2)
					body := map[string]any{"predictions": pickemtest.PicksOf(place, 0)}

					if r.IntN(4) > 0 {
						picks[user][id] = place
						body["survivor"] = pickemtest.MatchID(1)
					}

					if out := w.Ask(event.PutPredictionsFunction(), pickemtest.AppEvent(id)+"/predictions", user, body); out.StatusCode != http.StatusOK {
						t.Fatalf("%s picks: %d %s", user, out.StatusCode, out.Body)
					}
				}
			}

			for _, id := range ids {
				w.LockEvent(id)
				w.EnterResults(id, r.IntN(2), 0)
			}

			scored := map[string]int{} // the result of the first match, by event

			for step := range steps {
				id := ids[r.IntN(events)]
				result := r.IntN(3) - 1 // or void
				w.EnterResults(id, result)

				if _, ok := scored[id]; !ok || step%2 == 0 {
					w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(id)+"/score", "")
				}

				w.ScoreQueued()

				scored[id] = result

				for user, of := range picks {
					var right, out = 0, ""

					for _, id := range slices.Sorted(maps.Keys(scored)) {
						place, picked := of[id]

						switch {
						case !picked || scored[id] == item.Void || out != "":
						case place == scored[id]:
							right++
						default:
							out = id
						}
					}

					got := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef(user), item.StandingsRef("2026"))
					if got.SurvivorOut != out || got.SurvivorRight != right {
						t.Errorf("step %d, %s: out %q after %d, want %q after %d; picks %v, results %v", step, user, got.SurvivorOut,
							got.SurvivorRight, out, right, of, scored)
					}
				}
			}
		})
	}
}
