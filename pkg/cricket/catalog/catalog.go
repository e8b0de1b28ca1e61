package catalog

import (
	"context"
	"sync"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
)

// Reference serves leagues and teams.
type Reference struct {
	db      dynamo.DB // public reads use db.Eventual
	now     func() time.Time
	leagues cachedList[League]
	teams   cachedList[TeamProfile]
}

// OpenReference opens the service of leagues and teams.
func OpenReference(_ context.Context, env app.Env) (*Reference, error) {
	return &Reference{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// Leagues and teams seldom change: clients may cache an answer for cacheReference,
// and a process caches a scanned table for scanTTL.
const (
	cacheReference = "public, max-age=60"
	scanTTL        = time.Minute
)

// cachedList is a list that is read again when it is older than scanTTL. The zero
// value is an empty cache.
type cachedList[T any] struct {
	mu      sync.Mutex
	expires time.Time
	all     []T
}

// get returns the list, and reads it first if it has expired. An error of read is
// returned and not cached. The callers share the list and must not change it.
func (l *cachedList[T]) get(now time.Time, read func() ([]T, error)) ([]T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.expires) {
		return l.all, nil
	}
	all, err := read()
	if err != nil {
		return nil, err
	}
	l.all, l.expires = all, now.Add(scanTTL)
	return all, nil
}
