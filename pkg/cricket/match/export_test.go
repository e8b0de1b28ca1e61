package match

import (
	"context"
	"time"

	"matchday/pkg/cricket/score"
)

// Exported for the tests of the package.

const (
	BallsPerPage = ballsPerPage
	MaxIDs       = maxIDs
	KeepNames    = keepNames
	ScanPages    = scanPages
	ScanRows     = scanRows
)

var (
	CacheIdle = cacheIdle.CacheControl
	CacheLive = cacheLive.CacheControl
	CacheOver = cacheOver.CacheControl
)

func (x *Matches) Names(ctx context.Context, f Fixture, s score.State) (Names, error) {
	return x.names(ctx, f, s)
}

func (x ChunkInfo) Innings() int { return x.overs().Innings }

func LocalDay(date, timeZone string) (from, to time.Time, err error) { return localDay(date, timeZone) }
