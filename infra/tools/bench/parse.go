package main

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
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// parseCost is what a step from the provider's words to what is shown costs.
type parseCost struct {
	what   string
	time   time.Duration
	allocs int64
	bytes  int // of the body, or 0 for a step that reads none
}

// nearlyOver is the body of /livescores with one match whose last balls are
// being bowled.
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
	return sportmonks.Open("http://provider/api/v2.0", providerToken, &http.Client{Transport: &provider{server: s}}).Livescores(ctx)
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
		return nil, fmt.Errorf("the body has %d matches, not one", len(entries))
	}
	said, err := sportmonks.Decode(entries[0].Raw)
	if err != nil {
		return nil, err
	}
	before, problems := score.Read(said, score.State{})
	if len(problems) > 0 {
		return nil, fmt.Errorf("the generated match is at fault: %v", problems)
	}
	views := []string{before.Local.ID, before.Visitor.ID, ""}
	var shown [3]score.Display
	display := func() {
		for i, id := range views {
			shown[i] = before.For(id)
		}
	}
	display()
	steps := []struct {
		what  string
		bytes int
		do    func()
	}{
		{"split", len(body), func() { sportmonks.Split(body) }},
		{"decode", len(body), func() { sportmonks.Decode(entries[0].Raw) }},
		{"state", 0, func() { score.Read(said, before) }},
		{"timeline", 0, func() { score.Balls(said) }},
		{"3 displays", 0, display},
		{"3 hashes", 0, func() {
			for _, d := range shown {
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
			what: fmt.Sprintf("%s, %d balls: %s", format, len(said.Balls), s.what),
			time: time.Duration(r.NsPerOp()), allocs: r.AllocsPerOp(), bytes: s.bytes,
		})
	}
	return costs, nil
}
