package replay

import (
	"net/http"
	"regexp"
	"strings"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/chaos"
	"matchday/pkg/spec"
)

// trial is the additional state of a run with faults.
type trial struct {
	seed   uint64
	faults *chaos.Faults
}

// drawn are the ids and texts that the backend draws, which differ between runs: of
// requests and jobs, tokens and their SHA-256, and what is sealed.
var drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9_+/-]{26,}={0,2}`)

func newTrial(seed uint64, rooms []fleet.Room) *trial {
	t := &trial{seed: seed}
	calls := map[string]map[chaos.Kind]float64{}
	for _, room := range rooms {
		for _, fn := range room.Spec.Functions {
			rate := 0.002 // a job makes many calls
			switch on := fn.On.(type) {
			case spec.Route:
				if on.Method != http.MethodGet {
					rate = 0.01
				}
			case spec.UserConfirmed:
				rate = 0 // Cognito's sign-up page shows the error, and the user begins again
			}
			calls[strings.ReplaceAll(fn.Name, "/", "-")] = map[chaos.Kind]float64{
				chaos.Throttled: rate, chaos.Failed: rate, chaos.Cut: rate, chaos.FailedForGood: rate / 2, chaos.KilledBefore: rate / 8, chaos.KilledAfter: rate / 8,
			}
		}
	}
	t.faults = chaos.New(chaos.Config{
		Seed: seed, Calls: calls,
		Messages: map[chaos.Kind]float64{chaos.HeldBack: 0.03, chaos.Redelivered: 0.05},
	})
	t.faults.Alias = func(text string) string { return drawn.ReplaceAllString(text, "") }
	return t
}

// prepare adds the faults to a fleet.
func (t *trial) prepare(cfg *fleet.Config) {
	t.faults.Clock = cfg.Clock
	cfg.Faults = t.faults
	cfg.Push = func(apns.Push) { t.faults.MarkActive() }
}

// tally writes the kinds of faults. Their numbers differ a little between runs: a failed call
// cancels those beside it, before or after they have begun.
func (t *trial) tally(r *replay.Report) {
	did := t.faults.Counts()
	var kinds []string
	for _, k := range []chaos.Kind{chaos.Throttled, chaos.Failed, chaos.Cut, chaos.FailedForGood, chaos.KilledBefore, chaos.KilledAfter, chaos.HeldBack, chaos.Redelivered} {
		if did[k] > 0 {
			kinds = append(kinds, string(k))
		}
	}
	r.Printf("what went wrong with seed %d: %s\n", t.seed, strings.Join(kinds, ", "))
}
