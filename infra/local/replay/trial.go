package replay

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
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
	Call     func(spec.Function) float64 // that a function's call of a service is throttled, fails, or takes effect without an answer
	Kill     float64                     // that the function crashes before or after the call, as a part of Call
	HeldBack float64                     // that a message arrives late
}

// job is the id that the accounts room generates for a deletion or an export, in a message.
var job = regexp.MustCompile(`"job":"[^"]*"`)

// NewTrial returns the faults of the seed of a replay, or nil if it has none. drawn matches the
// ids and texts that the room generates at random, which differ between runs.
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
	t.Faults = chaos.New(chaos.Config{
		Seed:     t.seed,
		Calls:    calls,
		Messages: map[chaos.Kind]float64{chaos.HeldBack: odds.HeldBack, chaos.Redelivered: 0.05},
	})
	t.Faults.Alias = func(text string) string {
		return drawn.ReplaceAllStringFunc(job.ReplaceAllString(text, ""), func(id string) string { return t.known[id] })
	}

	return t
}

// Know gives a name to an id that differs between runs. A nil trial does nothing.
func (t *Trial) Know(id, name string) {
	if t != nil {
		t.known[id] = name
	}
}

// Start starts the faults. A nil trial does nothing.
func (t *Trial) Start() {
	if t != nil {
		t.Faults.Start()
	}
}

// tally writes how often each kind of fault happened, in place of the progress bar: the numbers
// differ a little between runs, because a failed call cancels concurrent ones, before or after
// they have begun. It returns the sum.
func (t *Trial) tally(r *Report) (sum int) {
	did := t.Faults.Counts()

	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(did)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", did[k], k))
		sum += did[k]
	}

	if r.Progress != nil {
		r.clear()
		fmt.Fprintf(r.Progress, "what went wrong: %s\n", strings.Join(kinds, ", "))
	}

	return sum
}
