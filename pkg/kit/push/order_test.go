package push

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"matchday/infra/sim/apns"
)

// However updates race each other and whatever APNs does to them, a phone ends
// on the newest state that was delivered to it, and never steps back.
func TestPhonesNeverStepBack(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	round := 0

	rapid.Check(t, func(rt *rapid.T) {
		round++

		server.Chaos(apns.Chaos{
			Seed:     rapid.Uint64().Draw(rt, "seed"),
			TooMany:  rapid.Float64Range(0, 0.2).Draw(rt, "too many"),
			Internal: rapid.Float64Range(0, 0.2).Draw(rt, "internal"),
			Lost:     rapid.Float64Range(0, 0.02).Draw(rt, "lost"),

			GoAwayEvery: rapid.IntRange(5, 100).Draw(rt, "go away every"),
		})

		to := make([]string, 6)
		for i := range to {
			to[i] = fmt.Sprintf("%064x", round<<16+i)
		}

		order := rapid.Permutation([]int{1, 2, 3, 4}).Draw(rt, "order")

		var mu sync.Mutex

		newest := map[string]int{}
		shown := map[string]int64{}

		var runs sync.WaitGroup
		for _, n := range order {
			runs.Go(func() {
				_, err := s.Send(t.Context(), update(t, n), slices.Values(to), func(token string, o Outcome) {
					mu.Lock()
					defer mu.Unlock()

					d, _ := server.Device(token)
					if o.Result == Delivered {
						newest[token] = max(newest[token], n)
					}

					if at := d.Timestamp.Unix(); d.State != nil && at < shown[token] {
						rt.Errorf("%s stepped back", token)
					} else if d.State != nil {
						shown[token] = at
					}
				})
				if err != nil {
					rt.Error(err)
				}
			})
		}

		runs.Wait()

		for _, token := range to {
			d, _ := server.Device(token)
			if want := fmt.Sprintf(`{"n":%d}`, newest[token]); newest[token] > 0 && string(d.State) < want {
				rt.Errorf("%s shows %s, not %s", token, d.State, want)
			}
		}
	})
}
