package bench

import (
	"context"
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/live"
)

// tickCost is what one tick costs, without the work of the simulated provider.
type tickCost struct {
	Matches int  `json:"matches"`
	Changed bool `json:"changed"` // one ball in each match since the tick before
	measure.Counters
	measure.Usage `json:"-"`
	engine        float64 // part of the time with a call to the DynamoDB engine in flight
	body          int     // bytes of the provider's answer
}

// benchTick measures the ticks of n live matches that are so many frames old:
// first unchanged, then with a ball in each.
func benchTick(ctx context.Context, n, frames, rounds int) ([]tickCost, error) {
	w, err := newWorld(ctx, clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	matches, err := w.play(ctx, n, frames)
	if err != nil {
		return nil, err
	}
	ticker, err := live.OpenTicker(ctx, w.Env())
	if err != nil {
		return nil, err
	}
	pause := func(on bool) error {
		for _, m := range matches {
			if err := w.feed.Pause(m.ID, on); err != nil {
				return err
			}
		}
		return nil
	}
	if err := pause(true); err != nil {
		return nil, err
	}
	var costs []tickCost
	for range 2 { // to warm up: the first tick writes everything
		if _, err := w.tick(ctx, ticker); err != nil {
			return nil, err
		}
	}
	for _, changed := range []bool{false, true} {
		if err := pause(!changed); err != nil {
			return nil, err
		}
		cost, err := w.ticks(ctx, ticker, n, rounds, changed)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	return costs, nil
}

// ticks measures so many ticks. Each must find all matches changed, or none.
func (w *world) ticks(ctx context.Context, ticker *live.Ticker, matches, rounds int, changed bool) (tickCost, error) {
	want := 0
	if changed {
		want = matches
	}
	var each []measure.Usage
	var engine []float64
	total := measure.NewCounters()
	for range rounds {
		w.Reset()
		spent, err := measure.Run(func() error {
			got, err := w.tick(ctx, ticker)
			if err == nil && got != want {
				err = fmt.Errorf("a tick found %d of %d matches changed, want %d", got, matches, want)
			}
			return err
		})
		if err != nil {
			return tickCost{}, err
		}
		spent = spent.Minus(w.Provider.Spent())
		each, engine = append(each, spent), append(engine, measure.Share(w.Waited(), spent.Wall))
		total.Add(w.Counts())
	}
	return tickCost{
		Matches: matches, Changed: changed, Counters: total.Per(rounds), Usage: measure.MedianUsage(each),
		engine: measure.Median(engine), body: w.Provider.BodySize(),
	}, nil
}
