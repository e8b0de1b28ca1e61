package score_test

import (
	"path/filepath"
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
)

// TestKeyEventsFitTheBudget: in recorded matches, at most 15 updates of any hour are key
// events, and each wicket is one. Apple does not publish the budget of an activity; 15 an
// hour is what developers report.
func TestKeyEventsFitTheBudget(t *testing.T) {
	t.Parallel()

	const ballsOfHour, budget = 75, 15

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)

			var st score.State

			keys, all, most := []int{}, 0, 0

			for n := 1; n <= len(r.Totals); n++ {
				wickets := 0
				if cur := st.InningsOf(st.Current); cur != nil && r.Totals[n-1].Innings == cur.Number {
					wickets = cur.Wickets
				}

				st, _ = scorer.Read(r.FeedAt(n), st)

				key := st.KeyEvent()
				if out := st.InningsOf(st.Current).Wickets > wickets; out && !key {
					t.Errorf("ball %d takes a wicket and is no key event", n)
				}

				if !key {
					continue
				}

				all++

				keys = append(keys, n)
				for keys[0] <= n-ballsOfHour {
					keys = keys[1:]
				}

				most = max(most, len(keys))
			}

			t.Logf("%d of %d balls are key events, at most %d in an hour", all, len(r.Totals), most)

			if most > budget {
				t.Errorf("%d key events in an hour, want at most %d", most, budget)
			}
		})
	}
}
