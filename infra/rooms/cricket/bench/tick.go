package bench

import (
	"context"
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/live"
)

// tickCost is what one tick costs, without the work of the simulated provider.
type tickCost struct {
	Matches int  `json:"matches"`
	Changed bool `json:"changed"` // one ball in each match since the tick before
	measure.Counters
	measure.Capacity
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

	for range 3 { // to warm up: the first tick writes everything, and the third sends what is confirmed
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

		if cost.Capacity, err = w.capacity(ctx); err != nil {
			return nil, err
		}

		if _, err := w.tick(ctx, ticker); err != nil { // it reads what the other process has stored
			return nil, err
		}

		costs = append(costs, cost)
	}

	return costs, nil
}

// metered is how many ticks capacity measures.
const metered = 5

// capacity returns what DynamoDB bills for a tick, on average. The meter costs time, so
// the ticks are those of another process.
func (w *world) capacity(ctx context.Context) (measure.Capacity, error) {
	var meter dynamodb.Meter

	env := w.Env()
	env.AWS = meter.On(env.AWS)

	ticker, err := live.OpenTicker(ctx, env)
	if err != nil {
		return measure.Capacity{}, err
	}

	for n := range metered + 1 { // the first reads what is stored
		if n == 1 {
			meter.Take()
		}

		if _, err := w.tick(ctx, ticker); err != nil {
			return measure.Capacity{}, err
		}
	}

	sum := meter.Take()

	return measure.Capacity{Reads: sum.Reads / metered, Writes: sum.Writes / metered}, nil
}

// ticks measures so many ticks. Each must find all matches changed, or none. One in 20 may
// be unchanged all the same: not every frame of a generated match is a ball.
func (w *world) ticks(ctx context.Context, ticker *live.Ticker, matches, rounds int, changed bool) (tickCost, error) {
	want := 0
	if changed {
		want = matches
	}

	var (
		each   []measure.Usage
		engine []float64
	)

	total := measure.NewCounters()

	for range rounds {
		w.Reset()

		spent, err := measure.Run(func() error {
			got, err := w.tick(ctx, ticker)
			if err == nil && (got > want || got < want-want/20) {
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
