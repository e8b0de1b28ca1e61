package bench

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	sim "matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// parseCost is what one step from the provider's payload to the displays costs.
type parseCost struct {
	name   string
	time   time.Duration
	allocs int64
	bytes  int // of the body; 0 for a step that reads none
}

// nearlyOver returns the body of /livescores with one match in its last balls.
func nearlyOver(ctx context.Context, format cricsheet.Format) ([]byte, error) {
	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)
	defer c.Stop()

	s := sim.New(c, providerToken)
	m := script.Generate(1, format)
	pace := sim.Pace{Every: slot}
	s.Play(m, c.Now(), pace)

	p, err := s.Progress(m.ID)
	if err != nil {
		return nil, err
	}

	s.Play(m, c.Now().Add(-time.Duration(p.Total-5)*slot), pace)

	return sportmonks.Open(providerURL, providerToken, &http.Client{Transport: &measure.Provider{Handler: s}}).Livescores(ctx)
}

// benchParse measures each step for a whole match of the format.
func benchParse(ctx context.Context, format cricsheet.Format) ([]parseCost, error) {
	body, err := nearlyOver(ctx, format)
	if err != nil {
		return nil, err
	}

	entries, err := sportmonks.Split(body)
	if err != nil {
		return nil, err
	}

	if len(entries) != 1 {
		return nil, fmt.Errorf("the body has %d matches, want one", len(entries))
	}

	payload, err := sportmonks.Decode(entries[0].Raw)
	if err != nil {
		return nil, err
	}

	before, problems := scorer.Read(payload, score.State{})
	if len(problems) > 0 {
		return nil, fmt.Errorf("the generated match has problems: %v", problems)
	}

	views := []string{before.Local.ID, before.Visitor.ID, ""}

	var displays [3]score.Display

	display := func() {
		for i, id := range views {
			displays[i] = before.For(id)
		}
	}
	display()
	steps := []struct {
		name  string
		bytes int
		do    func()
	}{
		{"split", len(body), func() { sportmonks.Split(body) }},
		{"decode", len(body), func() { sportmonks.Decode(entries[0].Raw) }},
		{"state", 0, func() { scorer.Read(payload, before) }},
		{"timeline", 0, func() { scorer.Balls(payload) }},
		{"3 displays", 0, display},
		{"3 hashes", 0, func() {
			for _, d := range displays {
				d.Hash()
			}
		}},
	}

	var costs []parseCost

	for _, s := range steps {
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				s.do()
			}
		})
		costs = append(costs, parseCost{
			name: fmt.Sprintf("%s, %d balls: %s", format, len(payload.Balls), s.name),
			time: time.Duration(r.NsPerOp()), allocs: r.AllocsPerOp(), bytes: s.bytes,
		})
	}

	return costs, nil
}
