package redis_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	sim "matchday/infra/sim/redis"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

var (
	noon  = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	login = spec.Cache{Name: "ranks"}.As("app", "~*")
)

// world is a server, its clock and a cache.
type world struct {
	*sim.Server
	redis.Cache
	now   atomic.Pointer[time.Time]
	dials atomic.Int64
}

func open(t testing.TB) *world {
	t.Helper()

	w := &world{}
	w.now.Store(&noon)

	s, err := sim.Start(func() time.Time { return *w.now.Load() })
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)
	w.Server = s

	env := app.Env{
		Stage:    spec.Local,
		Clock:    app.Clock{Now: func() time.Time { return *w.now.Load() }},
		Setting:  func(string) string { return "redis://" + s.Addr() },
		Patience: 100,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			w.dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	if w.Cache, err = redis.Open(t.Context(), env, login); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(w.Cache.Close)

	return w
}

func (w *world) pass(d time.Duration) {
	at := w.now.Load().Add(d)
	w.now.Store(&at)
}

// page returns a page as text: "-" if the projection is not there, "nil" if it does not have the page.
func (w *world) page(t testing.TB, key string, n int) string {
	t.Helper()

	page, _, ok, err := w.Page(t.Context(), key, fmt.Sprint(n))
	switch {
	case err != nil:
		t.Fatal(err)
	case !ok:
		return "-"
	case page == nil:
		return "nil"
	}

	return string(page)
}

func (w *world) put(t testing.TB, key string, version int64, pages ...string) bool {
	t.Helper()

	var all []redis.Page
	for i, p := range pages {
		all = append(all, redis.Page{Name: fmt.Sprint(i), Text: []byte(p)})
	}

	stored, err := w.Put(t.Context(), key, version, all, time.Hour, most)
	if err != nil {
		t.Fatal(err)
	}

	return stored
}

const (
	key = "tournament:{1}:leaderboard"
	// most is the number of pages of a projection that is full.
	most = 3
)

func TestProjection(t *testing.T) {
	t.Parallel()

	w := open(t)
	if got := w.page(t, key, 0); got != "-" {
		t.Errorf("before it is written: %s", got)
	}

	w.put(t, key, 3, "a", "b")

	got := []string{w.page(t, key, 0), w.page(t, key, 1), w.page(t, key, 2)}
	if diff := cmp.Diff([]string{"a", "b", "nil"}, got); diff != "" {
		t.Error(diff)
	}

	if w.put(t, key, 2, "older") || w.page(t, key, 0) != "a" {
		t.Error("an older one took its place")
	}

	if !w.put(t, key, 3, "again") || w.page(t, key, 0) != "again" || w.page(t, key, 1) != "b" {
		t.Error("a page of the same version did not take the place of that page alone")
	}

	if !w.put(t, key, 3, "full", "b", "c", "d") || w.page(t, key, 0) != "full" || w.page(t, key, 2) != "c" || w.page(t, key, 3) != "nil" {
		t.Error("a full projection got another page, or kept one that was read again")
	}

	if !w.put(t, key, 4, "newer") || w.page(t, key, 0) != "newer" || w.page(t, key, 1) != "nil" {
		t.Error("pages of a newer version did not take the place of all pages")
	}

	w.pass(time.Hour)

	if got := w.page(t, key, 0); got != "-" {
		t.Errorf("after its time: %s", got)
	}

	for _, k := range w.Keys() {
		if w.TTL(k) == 0 {
			t.Errorf("the key %s has no time to live: it is never evicted", k)
		}
	}
}

// TestInvalidationRefusesWhatWasReadBefore: a reader that read the database before a change
// does not bring the old state back.
func TestInvalidationRefusesWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.put(t, key, 3, "three")

	if err := w.Invalidate(t.Context(), key, 4); err != nil {
		t.Fatal(err)
	}

	if got := w.page(t, key, 0); got != "-" {
		t.Errorf("after the invalidation: %s", got)
	}

	if w.put(t, key, 3, "three") || w.page(t, key, 0) != "-" {
		t.Error("what was read before the change was stored")
	}

	if !w.put(t, key, 4, "four") {
		t.Error("what was read after the change was refused")
	}

	if err := w.Invalidate(t.Context(), key, 4); err != nil { // comes late
		t.Fatal(err)
	}

	if got := w.page(t, key, 0); got != "four" {
		t.Errorf("an invalidation that comes late leaves %s", got)
	}
}

// TestProjectionNeverGoesBack: whatever happens in which order, a version that was shown or
// invalidated is not followed by an older one.
func TestProjectionNeverGoesBack(t *testing.T) {
	t.Parallel()
	w := open(t)
	n := 0

	rapid.Check(t, func(r *rapid.T) {
		n++
		key, least := fmt.Sprintf("tournament:{%d}:leaderboard", n), int64(0)

		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			v := rapid.Int64Range(1, 6).Draw(r, "version")
			if rapid.Bool().Draw(r, "put") {
				if stored := w.put(t, key, v, fmt.Sprint(v)); stored != (v >= least) {
					r.Fatalf("version %d after %d: stored %t", v, least, stored)
				}
			} else if err := w.Invalidate(t.Context(), key, v); err != nil {
				r.Fatal(err)
			}

			least = max(least, v)
			if got := w.page(t, key, 0); got != "-" && got != fmt.Sprint(least) {
				r.Fatalf("shows %s, and %d is known", got, least)
			}
		}
	})
}

func TestClaim(t *testing.T) {
	t.Parallel()
	w := open(t)

	claim := func() bool {
		t.Helper()

		first, err := w.Claim(t.Context(), key+":claim", time.Second)
		if err != nil {
			t.Fatal(err)
		}

		return first
	}
	if !claim() || claim() {
		t.Error("not exactly the first has the claim")
	}

	w.pass(time.Second)

	if !claim() {
		t.Error("a claim outlives its time")
	}

	if err := w.Release(t.Context(), key+":claim"); err != nil || !claim() {
		t.Errorf("a claim outlives its release: %v", err)
	}
}

// TestFailedCacheIsLeftAlone: it is asked again after 5 s.
func TestFailedCacheIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.put(t, key, 1, "a")
	w.SetError("LOADING Redis is loading the dataset in memory")

	if _, _, _, err := w.Page(t.Context(), key, "0"); !errors.Is(err, redis.ErrAway) {
		t.Errorf("got %v", err)
	}

	w.SetError("")
	w.pass(5*time.Second - time.Millisecond)

	before := w.CommandCount()
	for name, err := range map[string]error{
		"read": func() error { _, _, _, err := w.Page(t.Context(), key, "0"); return err }(),
		"write": func() error {
			_, err := w.Put(t.Context(), key, 2, []redis.Page{{Name: "0", Text: bytes.Repeat([]byte("x"), 10)}}, time.Hour, most)
			return err
		}(),
		"invalidation": w.Invalidate(t.Context(), key, 2),
	} {
		if !errors.Is(err, redis.ErrAway) {
			t.Errorf("a %s of a cache that is not called: %v", name, err)
		}
	}

	if n := w.CommandCount() - before; n != 0 {
		t.Errorf("a cache that is not called got %d commands", n)
	}

	w.pass(time.Millisecond)

	if got := w.page(t, key, 0); got != "a" {
		t.Errorf("after its rest: %s", got)
	}
}

// TestSilentCache: a cache that accepts no connection is given up after 1 s, and one that does
// not answer after half a second.
func TestSilentCache(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		dial func(context.Context) (net.Conn, error)
		want time.Duration
	}{
		"no connection": {func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }, time.Second},
		"no answer": {func(context.Context) (net.Conn, error) {
			client, server := net.Pipe()
			go io.Copy(io.Discard, server)

			return client, nil
		}, time.Second / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cache, err := redis.Open(t.Context(), app.Env{
					Stage: spec.Local, Clock: app.Clock{Now: time.Now}, Setting: func(string) string { return "redis://cache.example.com:6379" },
					Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
				}, login)
				if err != nil {
					t.Fatal(err)
				}
				defer cache.Close()

				began := time.Now()

				_, _, _, err = cache.Page(t.Context(), key, "0")
				if took := time.Since(began); !errors.Is(err, redis.ErrAway) || took != c.want {
					t.Errorf("after %v: %v, want ErrAway after %v", took, err, c.want)
				}
			})
		})
	}
}

func TestBadURL(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "localhost", "redis://", ":"} {
		_, err := redis.Open(t.Context(), app.Env{Stage: spec.Local, Setting: func(string) string { return text }}, login)
		if err == nil || err.Error() != "MATCHDAY_CACHE_RANKS is no URL" {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestPasswordIsASignedRequest: the token that ElastiCache accepts for 15 minutes.
func TestPasswordIsASignedRequest(t *testing.T) {
	t.Parallel()

	env := app.Env{
		AWS:   aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "key", "session")},
		Clock: app.Clock{Now: func() time.Time { return noon }},
	}

	token, err := redis.Token(t.Context(), env, "prod-ranks-app", "prod-ranks")
	if err != nil {
		t.Fatal(err)
	}

	u, err := url.Parse("http://" + token)
	if err != nil {
		t.Fatal(err)
	}

	q := u.Query()

	got := map[string]string{"host": u.Host, "path": u.Path}
	for _, name := range []string{"Action", "User", "ResourceType", "X-Amz-Expires", "X-Amz-Date",
		"X-Amz-Credential", "X-Amz-Security-Token"} {
		got[name] = q.Get(name)
	}

	want := map[string]string{
		"host":                 "prod-ranks",
		"path":                 "/",
		"Action":               "connect",
		"User":                 "prod-ranks-app",
		"ResourceType":         "ServerlessCache",
		"X-Amz-Expires":        "900",
		"X-Amz-Date":           "20260606T120000Z",
		"X-Amz-Credential":     "AKIDEXAMPLE/20260606/eu-west-1/elasticache/aws4_request",
		"X-Amz-Security-Token": "session",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(q.Get("X-Amz-Signature")) != 64 {
		t.Errorf("the token (-want +got):\n%s", diff)
	}
}

// TestCacheOfAStageIsAskedByTLS: the first bytes are a ClientHello for the cache's host, of
// TLS 1.2 or newer.
func TestCacheOfAStageIsAskedByTLS(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { l.Close() })

	hello := make(chan *tls.ClientHelloInfo, 1)

	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()

		tls.Server(c, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello <- h
			return nil, errors.New("seen")
		}}).Handshake()
		close(hello)
	}()

	env := app.Env{
		Stage: "prod", Clock: app.Clock{Now: func() time.Time { return noon }}, Patience: 100,
		AWS: aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "key", "")},
		Setting: func(string) string {
			return fmt.Sprintf("rediss://app@localhost:%d/ranks", l.Addr().(*net.TCPAddr).Port)
		},
	}

	c, err := redis.Open(t.Context(), env, login)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(c.Close)

	if _, _, _, err := c.Page(t.Context(), "page", "0"); err == nil {
		t.Error("a cache whose handshake fails has answered")
	}

	switch h := <-hello; {
	case h == nil:
		t.Error("the connection does not begin with a handshake")
	case h.ServerName != "localhost" || slices.Min(h.SupportedVersions) != tls.VersionTLS12:
		t.Errorf("the handshake is for %q with the versions %x, want localhost and 1.2 or newer", h.ServerName, h.SupportedVersions)
	}
}
