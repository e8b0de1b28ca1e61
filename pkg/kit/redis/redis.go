// Package redis keeps projections of a database in the caches of the spec.
//
// A projection may vanish at any time, but must never be older than the data that its reader may
// see. Its writer therefore passes the version of the data that it read from the database, and a
// projection is replaced by a newer one only. After a commit that changes the database, the
// projection is invalidated with the new version.
//
// A cache that does not answer costs a reader little: after a failure it is not called for a
// while, and the reader reads the database.
package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

const (
	dial    = time.Second // with TLS
	command = 500 * time.Millisecond
	conns   = 4
)

// PauseAfterFailure is how long a cache is not called after a failure.
const PauseAfterFailure = 5 * time.Second

// ErrAway is the error of a cache that does not answer, and of one that is not called because it
// did not answer before.
var ErrAway = problem.New(problem.Unavailable, "cache_unavailable",
	"the cache does not answer: try again").WithRetryAfter(PauseAfterFailure)

// Cache is a cache, with the permissions of one user.
type Cache struct {
	client      *redis.ClusterClient
	now         func() time.Time
	pausedUntil *atomic.Int64 // end of the pause after a failure, in ns since 1970
}

// Open returns the cache of a login, whose URL is in the environment. It connects at the first
// use.
func Open(_ context.Context, env app.Env, login spec.CacheLogin) (Cache, error) {
	u, err := url.Parse(env.Setting(login.Env()))
	if err != nil || u.Host == "" {
		return Cache{}, errors.New(login.Env() + " is no URL")
	}

	logOnce()

	o := &redis.ClusterOptions{
		Addrs:                    []string{u.Host},
		Dialer:                   env.Dial,
		DialTimeout:              env.Limit(dial),
		ReadTimeout:              env.Limit(command),
		WriteTimeout:             env.Limit(command),
		ContextTimeoutEnabled:    true,
		MaxRetries:               -1,
		MaxRedirects:             -1,
		DialerRetries:            1, // each call is made once: the caller decides what a failure means
		PoolSize:                 conns,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}, // it would send a request on each connection
	}
	if env.Stage != spec.Local {
		o.TLSConfig = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
		o.CredentialsProviderContext = func(ctx context.Context) (string, string, error) {
			token, err := token(ctx, env, u.User.Username(), strings.TrimPrefix(u.Path, "/"))
			return u.User.Username(), token, err
		}
	}

	return Cache{redis.NewClusterClient(o), env.Now, new(atomic.Int64)}, nil
}

// logOnce makes the client log as the function does.
var logOnce = sync.OnceFunc(func() { redis.SetLogger(logger{}) })

type logger struct{}

// Printf logs what the client reports: a failure that it has recovered from, or will return.
func (logger) Printf(ctx context.Context, format string, v ...any) {
	slog.WarnContext(ctx, "cache", "err", fmt.Sprintf(format, v...))
}

// empty is the SHA-256 of no body.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// token returns the password of a user for 15 minutes: a signed request, as
// ElastiCache's "Authenticating with IAM" has it.
func token(ctx context.Context, env app.Env, user, cache string) (string, error) {
	q := url.Values{"Action": {"connect"}, "User": {user}, "ResourceType": {"ServerlessCache"}, "X-Amz-Expires": {"900"}}

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cache+"/?"+q.Encode(), nil)
	if err != nil {
		return "", err
	}

	keys, err := env.AWS.Credentials.Retrieve(ctx)
	if err != nil {
		return "", err
	}

	signed, _, err := v4.NewSigner().PresignHTTP(ctx, keys, r, empty, "elasticache", env.AWS.Region, env.Now())

	return strings.TrimPrefix(signed, "http://"), err
}

// Close ends the connections.
func (c Cache) Close() { c.client.Close() }

// versionOf is the key of the version below which a projection must not be replaced. Keys with the same
// part in braces are in one slot of a cluster, as a script requires.
func versionOf(key string) string { return key + ":version" }

// Page is a page of a projection.
type Page struct {
	Name string // "version" is no name
	Text []byte
}

// Page returns the page with a name, and the version of the projection. ok is false if there is no
// projection. A page that it does not have is nil. Errors: ErrAway.
func (c Cache) Page(ctx context.Context, key, name string) (page []byte, version int64, ok bool, err error) {
	err = c.guard(func() error {
		got, err := c.client.HMGet(ctx, key, "version", name).Result()
		if err != nil || got[0] == nil {
			return err
		}

		if version, err = strconv.ParseInt(got[0].(string), 10, 64); err != nil {
			return err
		}

		if text, there := got[1].(string); there {
			page = []byte(text)
		}

		ok = true

		return nil
	})

	return page, version, ok, err
}

// put adds pages to the projection of a version, and deletes those of an older one. It adds none if a
// newer version is known, or if the projection is full: a full one only replaces pages.
var put = redis.NewScript(`
local known = tonumber(redis.call('GET', KEYS[2]) or '0')
local version = tonumber(ARGV[1])
local has = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version < known or version < has then
	return 0
end
if has < version then
	redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
redis.call('HSET', KEYS[1], 'version', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for i = 5, #ARGV, 2 do
	if redis.call('HLEN', KEYS[1]) <= tonumber(ARGV[4]) or redis.call('HEXISTS', KEYS[1], ARGV[i]) == 1 then
		redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
	end
end
return 1`)

// invalidate deletes a projection that is older than a version.
var invalidate = redis.NewScript(`
local known = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[1]) > known then
	redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
local has = redis.call('HGET', KEYS[1], 'version')
if has and tonumber(has) < tonumber(ARGV[1]) then
	redis.call('DEL', KEYS[1])
	return 1
end
return 0`)

// keepVersion is how long the version of a projection is kept after its last change: longer than
// any function runs.
const keepVersion = 24 * time.Hour

// MaxPages bounds the pages of a Put: a request of ElastiCache has at most 3,999 arguments.
const MaxPages = 1900

// Put adds pages to a projection, at once for all readers, and keeps it for the time lives. version is
// that of the database when the pages were read. Pages of an older version are deleted. A projection
// has at most `most` pages: it gets no others. stored is false if a newer version is known. Errors:
// ErrAway.
func (c Cache) Put(ctx context.Context, key string, version int64, pages []Page, lives time.Duration, most int) (stored bool, err error) {
	values := make([]any, 0, 2*len(pages)+4)

	values = append(values, version, lives.Milliseconds(), (lives + keepVersion).Milliseconds(), most)
	for _, p := range pages {
		values = append(values, p.Name, p.Text)
	}

	err = c.guard(func() error {
		n, err := put.Run(ctx, c.client, []string{key, versionOf(key)}, values...).Int()
		stored = n == 1

		return err
	})

	return stored, err
}

// Invalidate deletes a projection that is older than version, and from now on refuses older
// ones. Errors: ErrAway.
func (c Cache) Invalidate(ctx context.Context, key string, version int64) error {
	return c.guard(func() error {
		return invalidate.Run(ctx, c.client, []string{key, versionOf(key)}, version, keepVersion.Milliseconds()).Err()
	})
}

// Claim reports whether the caller is the first to claim a key. The claim lasts for the time
// lives. Errors: ErrAway.
func (c Cache) Claim(ctx context.Context, key string, lives time.Duration) (first bool, err error) {
	err = c.guard(func() error {
		first, err = c.client.SetNX(ctx, key, 1, lives).Result()
		return err
	})

	return first, err
}

// Release ends a claim before its time. Errors: ErrAway.
func (c Cache) Release(ctx context.Context, key string) error {
	return c.guard(func() error { return c.client.Del(ctx, key).Err() })
}

// guard makes a call, unless there was a failure shortly before.
func (c Cache) guard(call func() error) error {
	now := c.now().UnixNano()
	if now < c.pausedUntil.Load() {
		return ErrAway
	}

	err := call()
	if err == nil {
		return nil
	}

	c.pausedUntil.Store(now + int64(PauseAfterFailure))

	return ErrAway.Because(fmt.Errorf("cache: %w", err))
}
