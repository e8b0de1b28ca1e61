package replay

import (
	"net/http"
	"regexp"
	"strings"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/sim/chaos"
	"matchday/pkg/spec"
)

// trial is the additional state of a run with faults. The methods of a nil trial do nothing.
type trial struct {
	seed   uint64
	faults *chaos.Faults
	known  map[string]string // names of ids that differ between runs
}

// ids are those that the backend draws: of users, of items, of sessions, links and answers,
// and join codes.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|[A-Za-z0-9_-]{43}|\b[0-9A-HJKMNP-TV-Z]{8}\b`)

func newTrial(seed uint64, rooms []fleet.Room) *trial {
	t := &trial{seed: seed, known: map[string]string{}}
	calls := map[string]map[chaos.Kind]float64{}
	for _, room := range rooms {
		for _, fn := range room.Spec.Functions {
			rate := 0.01
			switch on := fn.On.(type) {
			case spec.Route:
				if on.Method == http.MethodGet {
					rate = 0.002
				}
			case spec.Schedule:
				rate = 0.002 // most invocations do nothing
			}
			calls[strings.ReplaceAll(fn.Name, "/", "-")] = map[chaos.Kind]float64{
				chaos.Throttled: rate, chaos.Failed: rate, chaos.Cut: rate, chaos.FailedForGood: rate / 2, chaos.KilledBefore: rate / 4, chaos.KilledAfter: rate / 4,
			}
		}
	}
	t.faults = chaos.New(chaos.Config{Seed: seed, Calls: calls, Messages: map[chaos.Kind]float64{chaos.HeldBack: 0.05, chaos.Redelivered: 0.05}})
	t.faults.Alias = func(text string) string {
		return ids.ReplaceAllStringFunc(text, func(id string) string { return t.known[id] })
	}
	return t
}

// prepare adds the faults to a fleet.
func (t *trial) prepare(cfg *fleet.Config) {
	t.faults.Clock = cfg.Clock
	cfg.Faults = t.faults
}

// know names an id that differs between runs.
func (t *trial) know(id, name string) {
	if t != nil {
		t.known[id] = name
	}
}

// tally writes the kinds of faults.
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
