package catalog

import (
	"context"
	"sync"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
)

// Reference answers for leagues and teams.
type Reference struct {
	db      dynamo.DB
	now     func() time.Time
	leagues kept[League]
	teams   kept[TeamProfile]
}

// OpenReference opens the service of leagues and teams.
func OpenReference(_ context.Context, env app.Env) (*Reference, error) {
	return &Reference{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// cacheReference is how long others may keep what seldom changes, and keepScan
// how long a warm process does.
const (
	cacheReference = "public, max-age=60"
	keepScan       = time.Minute
)

// kept is a list that is read again when it is older than keepScan. Its zero
// value is empty.
type kept[T any] struct {
	mu    sync.Mutex
	until time.Time
	all   []T
}
