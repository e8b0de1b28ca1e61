package view

import (
	"context"
	"log/slog"
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/redis"
)

// wakeKey has the time at which a tournament was made, or became upcoming or active, last.
const wakeKey = "tournament:{wake}"

// Wake has the scheduled jobs that rest go on with their next runs. If the cache does not answer, they may rest
// for the rest of tables.IdleInterval: the tournament is stored, so that is logged, and is no error.
func Wake(ctx context.Context, cache redis.Cache, now time.Time) {
	pages := []redis.Page{{Name: firstPage, Text: []byte("{}")}}

	if _, err := cache.Put(ctx, wakeKey, now.UnixMilli(), pages, 2*tables.IdleInterval, len(pages)); err != nil {
		slog.WarnContext(ctx, "jobs may rest for another hour", "err", err)
	}
}

// Rest is the rest of a scheduled job while no tournament is upcoming or active: see tables.IdleInterval. The
// job looks into the cache, which never pauses, and leaves the database alone.
type Rest struct {
	cache redis.Cache
	since time.Time // when the run began that found no tournament; zero while the job does not rest
}

// NewRest returns the rest of a job that does not rest yet.
func NewRest(cache redis.Cache) *Rest { return &Rest{cache: cache} }

// maxSkew bounds the difference of the clocks of two functions.
const maxSkew = time.Minute

// Over reports whether the job has to read the database: it does not rest, tables.IdleInterval is over, a
// tournament was made meanwhile, or the cache does not answer.
func (r *Rest) Over(ctx context.Context, now time.Time) bool {
	if r.since.IsZero() || !now.Before(r.since.Add(tables.IdleInterval)) {
		return true
	}

	_, woken, _, err := r.cache.Page(ctx, wakeKey, firstPage)
	if err != nil {
		slog.WarnContext(ctx, "a job does not rest", "err", err)
		return true
	}

	return woken > r.since.Add(-maxSkew).UnixMilli()
}

// Begin begins a rest. now is when the run began that found no tournament.
func (r *Rest) Begin(now time.Time) { r.since = now }
