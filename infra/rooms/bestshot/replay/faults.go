package replay

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"matchday/infra/local/replay"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// drawn are the ids that the database draws, and the codes of leagues.
var drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9A-HJKMNP-TV-Z]{8}\b`)

var odds = replay.Odds{Kill: 0.25, HeldBack: 0.05, Call: func(fn spec.Function) float64 {
	switch on := fn.On.(type) {
	case spec.Route:
		if on.Method == http.MethodGet {
			return 0.001
		}
	case spec.Schedule:
		return 0.002 // most invocations do nothing
	}

	if fn.Name == ingest.PollProviderFunction().Name || fn.Name == ingest.IngestFeedFunction().Name {
		return 0.002 // most polls bring nothing new
	}

	return 0.01
}}

// requests are the probabilities of what goes wrong with a request to the provider. Timeout is
// not among them: the functions wait for an answer by the real clock, 10 seconds each time,
// while the simulated clock stands still.
var requests = map[football.Kind]float64{
	football.Forbidden:       0.01,
	football.TooManyRequests: 0.02,
	football.ServerError:     0.02,
	football.Truncated:       0.01,
	football.HTML:            0.01,
	football.TooLarge:        0.01,
}

// misbehave starts the faults.
func (r *run) misbehave(ctx context.Context) error {
	r.Trial.Start()

	if r.Trial == nil {
		return nil
	}

	for _, c := range r.cups {
		for _, f := range c.fixtures {
			switch d := r.dice("outage", c.file, f.event); d.IntN(12) {
			case 0:
				r.at(f.last().Changed.Add(time.Minute), func() { r.stopDatabase(ctx, time.Duration(20+d.IntN(70))*time.Second) })
			case 1:
				r.at(f.last().Changed.Add(time.Minute), func() { r.stopCache(time.Duration(10+d.IntN(100)) * time.Minute) })
			}
		}
	}

	return r.cfg.Provider().Misbehave(requests)
}

// stopDatabase kills the database, and starts it again later. It writes a checkpoint first, because the
// server of a replay does not write commits to the disk.
func (r *run) stopDatabase(ctx context.Context, after time.Duration) {
	if r.Fleet.SQL.Exited == nil || r.stopped {
		return // it runs elsewhere, or is down
	}

	if rows, err := r.query(ctx, "CHECKPOINT"); err == nil {
		rows.Close()
	}

	r.Fleet.SQL.Kill()
	r.stopped = true
	r.outages++
	r.Busy = later(r.Busy, r.Clock.Now().Add(2*time.Hour))
	r.Clock.After(after, func() { // the steps may wait for it
		if err := r.Fleet.SQL.Restart(ctx); err != nil {
			r.fail(nil, "the database does not start again: %v", err)
		}

		r.stopped = false
	})
}

// stopCache stops the cache, and starts it again later with its data.
func (r *run) stopCache(after time.Duration) {
	cache := r.Fleet.Caches[tables.Cache.Name]
	if cache == nil || r.cold {
		return // it runs elsewhere, or is down
	}

	cache.Close()

	r.cold = true
	r.outages++
	r.Busy = later(r.Busy, r.Clock.Now().Add(after+2*time.Hour))
	r.Clock.After(after, func() {
		if err := cache.Restart(); err != nil {
			r.fail(nil, "the cache does not start again: %v", err)
		}

		r.cold = false
	})
}
