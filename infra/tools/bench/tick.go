package main

import (
	"context"
	"fmt"
	"time"

	"matchday/pkg/cricket"
)

// tickCost is what one tick costs, the simulated provider's work left out.
type tickCost struct {
	Matches int  `json:"matches"`
	Changed bool `json:"changed"` // one ball in each match since the tick before
	counters
	usage
	engine float64 // the part of the time during which a call to the DynamoDB engine was open
	body   int     // bytes of the provider's answer
}

// How many frames matches are old when they are first polled. Every T20 that is
// generated has over 150.
const (
	played    = 120
	justBegun = 5
)

// benchTick measures the ticks of n live matches that are so many frames old, at
// first unchanged and then with a ball in each.
func benchTick(ctx context.Context, n, frames, rounds int) ([]tickCost, error) {
	w, err := newWorld(ctx, cricket.Room, time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		return nil, err
	}
	defer w.close()
	matches, err := w.play(ctx, n, frames)
	if err != nil {
		return nil, err
	}
	ticker, err := cricket.OpenTicker(ctx, w.env())
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
	for range 2 { // to warm up: the first has everything to write
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

// ticks measures so many ticks, of which each must find all matches changed, or
// none.
func (w *world) ticks(ctx context.Context, ticker *cricket.Ticker, matches, rounds int, changed bool) (tickCost, error) {
	want := 0
	if changed {
		want = matches
	}
	var each []usage
	var engine []float64
	total := newCounters()
	for range rounds {
		w.reset()
		spent, err := measure(func() error {
			got, err := w.tick(ctx, ticker)
			if err == nil && got != want {
				err = fmt.Errorf("a tick found %d of %d matches changed, not %d", got, matches, want)
			}
			return err
		})
		if err != nil {
			return tickCost{}, err
		}
		spent = spent.minus(w.provider.spent)
		each, engine = append(each, spent), append(engine, share(w.wire.waited, spent.wall))
		total.add(w.counts())
	}
	return tickCost{
		Matches: matches, Changed: changed, counters: total.per(rounds), usage: median(each),
		engine: middle(engine, func(part float64) float64 { return part }), body: w.provider.size,
	}, nil
}
