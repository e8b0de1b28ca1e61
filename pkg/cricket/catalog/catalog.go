package catalog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
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

// cacheReference is how long clients may cache an answer: leagues and teams seldom change.
var cacheReference = httpapi.Cached{CacheControl: "public, max-age=60"}

// scanTTL is how long a process caches a scanned table.
const scanTTL = time.Minute

// Leagues knows which leagues are inactive. It reads them at most once in scanTTL.
type Leagues struct {
	db       dynamo.DB
	now      func() time.Time
	inactive cachedList[ProvidedLeague]
}

// NewLeagues returns Leagues that read the table of db. The function uses AllLeagues.
func NewLeagues(db dynamo.DB, now func() time.Time) *Leagues {
	return &Leagues{db: db.Eventual(), now: now}
}

// Inactive returns the ids of the inactive leagues, which may be a minute old. A league
// without a row is not inactive. If the table cannot be read, the list that was read last
// stands, so that no tick is lost; only a process without one returns the error.
func (l *Leagues) Inactive(ctx context.Context) (map[string]bool, error) {
	rows, err := l.inactive.get(l.now(), func() ([]ProvidedLeague, error) {
		return dynamo.ScanAll[ProvidedLeague](ctx, l.db, tables.AllLeagues, new(dynamo.Equal[ProvidedLeague]("active", false)))
	})
	if last, ok := l.inactive.last(); err != nil && ok {
		slog.WarnContext(ctx, "the inactive leagues cannot be read: those of the last read stand", "err", err)
		rows, err = last, nil
	}

	ids := make(map[string]bool, len(rows))
	for _, row := range rows {
		ids[row.LeagueID] = true
	}

	return ids, err
}

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

// last returns the list that was read last, however old. ok is false if none was read.
func (l *cachedList[T]) last() (all []T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.all, !l.expires.IsZero()
}
