package replay

import (
	"regexp"
	"strings"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/chaos"
	"matchday/pkg/spec"
)

// Trial injects the faults of a seed.
type Trial struct {
	Faults *chaos.Faults
	seed   uint64
	known  map[string]string // names of ids that differ between runs
}

// Odds are the probabilities of faults.
type Odds struct {
	Call     func(spec.Function) float64 // that a function's call of a service is throttled, or fails, or has effect without an answer
	Kill     float64                     // that the function dies before or after the call, as a part of that
	HeldBack float64                     // that a message arrives late
}

// NewTrial returns the faults of the seed of a replay, or nil if it has none. drawn matches
// the ids and texts that the backend draws, which differ between runs.
func NewTrial(cfg Config, rooms []fleet.Room, odds Odds, drawn *regexp.Regexp) *Trial {
	if cfg.Faults == nil {
		return nil
	}
	calls := map[string]map[chaos.Kind]float64{}
	for _, room := range rooms {
		for _, fn := range room.Spec.Functions {
			rate := odds.Call(fn)
			calls[strings.ReplaceAll(fn.Name, "/", "-")] = map[chaos.Kind]float64{
				chaos.Throttled: rate, chaos.Failed: rate, chaos.Cut: rate, chaos.FailedForGood: rate / 2,
				chaos.KilledBefore: rate * odds.Kill, chaos.KilledAfter: rate * odds.Kill,
			}
		}
	}
	t := &Trial{seed: *cfg.Faults, known: map[string]string{}}
	t.Faults = chaos.New(chaos.Config{Seed: t.seed, Calls: calls, Messages: map[chaos.Kind]float64{chaos.HeldBack: odds.HeldBack, chaos.Redelivered: 0.05}})
	t.Faults.Alias = func(text string) string {
		return drawn.ReplaceAllStringFunc(text, func(id string) string { return t.known[id] })
	}
	return t
}

// Know names an id that differs between runs. A nil trial does nothing.
func (t *Trial) Know(id, name string) {
	if t != nil {
		t.known[id] = name
	}
}

// Start begins with the faults. A nil trial does nothing.
func (t *Trial) Start() {
	if t != nil {
		t.Faults.Start()
	}
}

// tally writes the kinds of faults. Their numbers differ a little between runs: a failed call
// cancels those beside it, before or after they have begun.
func (t *Trial) tally(r *Report) {
	did := t.Faults.Counts()
	var kinds []string
	for _, k := range []chaos.Kind{chaos.Throttled, chaos.Failed, chaos.Cut, chaos.FailedForGood, chaos.KilledBefore, chaos.KilledAfter, chaos.HeldBack, chaos.Redelivered} {
		if did[k] > 0 {
			kinds = append(kinds, string(k))
		}
	}
	r.Printf("what went wrong with seed %d: %s\n", t.seed, strings.Join(kinds, ", "))
}
