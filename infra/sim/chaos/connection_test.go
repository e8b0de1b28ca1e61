package chaos

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/postgres"
	redissim "matchday/infra/sim/redis"
)

// between returns Faults whose calls fail by the rates, the address in front of a server, and
// the tokens of the processes that are killed.
func between(t *testing.T, p Protocol, server string, rates map[Kind]float64) (*Faults, string, chan string) {
	t.Helper()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Stop)
	f := New(Config{Seed: 7, Clock: c, Calls: map[string]map[Kind]float64{function + " " + p.operation(): rates}})
	killed := make(chan string, 1)
	f.Payload = func(string) []byte { return nil }
	f.Running = func(name string) string {
		if name != "room/do-thing" {
			t.Errorf("%s is asked for", name)
		}

		return "process 1"
	}
	f.Kill = func(token string) bool { killed <- token; return true }

	address, stop, err := f.Connect("room/do-thing", p, server)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	f.Start()

	return f, address, killed
}

// TestConnections: what a fault of a connection does to a call of a database or a cache, and
// that its setup has none.
func TestConnections(t *testing.T) {
	t.Parallel()

	db, err := postgres.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(db.Stop)

	direct, err := pgx.Connect(t.Context(), db.URL("", "postgres"))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { direct.Close(context.Background()) })

	if _, err := direct.Exec(t.Context(), "CREATE TABLE counter (id text PRIMARY KEY, n int)"); err != nil {
		t.Fatal(err)
	}

	cache, err := redissim.Start(time.Now)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(cache.Close)

	for kind, want := range map[Kind]struct{ effect, fails, kills bool }{
		"":     {effect: true},
		Failed: {fails: true}, FailedForGood: {fails: true}, Throttled: {fails: true}, Stalled: {fails: true},
		Cut:          {effect: true, fails: true},
		KilledBefore: {fails: true, kills: true}, KilledAfter: {effect: true, fails: true, kills: true},
	} {
		check := func(name string, f *Faults, killed chan string, call func(context.Context) error, end func(), effect func() bool) {
			ctx, die := context.WithTimeout(t.Context(), 2*time.Minute)
			defer die()

			token := ""

			if want.kills {
				go func() { token = <-killed; die(); end() }() // with a process its connections end
			}

			if err := call(ctx); (err != nil) != want.fails {
				t.Errorf("%s, %q: the call returns %v", name, kind, err)
			}

			if got := effect(); got != want.effect {
				t.Errorf("%s, %q: the call has an effect: %t", name, kind, got)
			}

			if n := f.Counts()[kind]; kind != "" && n != 1 || want.kills != (ctx.Err() == context.Canceled && token == "process 1") {
				t.Errorf("%s, %q: counted %d, killed %q", name, kind, n, token)
			}
		}
		rates := map[Kind]float64{kind: 1}

		f, address, killed := between(t, Postgres, db.Address, rates)

		u, err := url.Parse(db.URL("", "postgres"))
		if err != nil {
			t.Fatal(err)
		}

		u.Host = address

		conn, err := pgx.Connect(t.Context(), u.String())
		if err != nil {
			t.Fatalf("%q: the setup fails: %v", kind, err)
		}

		if err := conn.Ping(t.Context()); err != nil {
			t.Errorf("%q: the check fails: %v", kind, err)
		}

		check("a database", f, killed, func(ctx context.Context) error {
			_, err := conn.Exec(ctx, "INSERT INTO counter VALUES ($1, 1)", string(kind))
			return err
		}, func() {}, func() bool {
			var n int

			err := direct.QueryRow(t.Context(), "SELECT count(*) FROM counter WHERE id = $1", string(kind)).Scan(&n)

			return err == nil && n == 1
		})
		conn.Close(context.Background())

		f, address, killed = between(t, Redis, cache.Addr(), rates)

		o := &redis.ClusterOptions{
			Addrs:                 []string{address},
			MaxRetries:            -1,
			MaxRedirects:          -1,
			DialTimeout:           time.Minute,
			ReadTimeout:           time.Minute,
			ContextTimeoutEnabled: true,
		}
		if kind == Stalled {
			o.ReadTimeout = time.Second
		}

		client := redis.NewClusterClient(o)

		check("a cache", f, killed, func(ctx context.Context) error { return client.Set(ctx, "k"+string(kind), "1", 0).Err() },
			func() { client.Close() }, func() bool { return slices.Contains(cache.Keys(), "k"+string(kind)) })
		client.Close()
	}
}
