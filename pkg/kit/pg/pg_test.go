package pg_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/local/databases"
	"matchday/infra/sim/postgres"
	"matchday/infra/testkit/pgtest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

var club = spec.SQLDatabase{Name: "club", Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte(`-- +goose Up
CREATE TABLE player (id int PRIMARY KEY, name text NOT NULL CONSTRAINT player_name UNIQUE, goals int NOT NULL DEFAULT 0 CONSTRAINT player_goals CHECK (goals >= 0), joined timestamptz NOT NULL DEFAULT now());
INSERT INTO player (id, name, joined) VALUES (1, 'ann', now()), (2, 'bob', now());
-- +goose StatementBegin
DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'club_reader') THEN CREATE ROLE club_reader LOGIN; END IF; END $$;
-- +goose StatementEnd
GRANT SELECT ON player TO club_reader;
`)}}}

// open returns a database of a server as a role.
func open(t testing.TB, e *postgres.Engine, name, role string, change ...func(*app.Env)) pg.DB {
	t.Helper()

	env := app.Env{
		Stage:    spec.Local,
		Clock:    app.Clock{Now: func() time.Time { return noon }},
		Setting:  func(string) string { return e.URL(role, name) },
		Patience: 100,
	}
	for _, c := range change {
		c(&env)
	}

	db, err := pg.Open(t.Context(), env, club)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(db.Close)

	return db
}

func shared(t testing.TB, change ...func(*app.Env)) pg.DB {
	t.Helper()
	return open(t, pgtest.Shared(t), pgtest.Create(t, club), spec.SQLAdmin, change...)
}

type player struct {
	ID    int    `db:"id"`
	Name  string `db:"name"`
	Goals int    `db:"goals"`
}

func TestRows(t *testing.T) {
	t.Parallel()
	db, ctx := shared(t), t.Context()

	all, err := pg.All[player](ctx, db, `SELECT id, name, goals FROM player ORDER BY id`)
	if diff := cmp.Diff([]player{{1, "ann", 0}, {2, "bob", 0}}, all); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}

	if one, ok, err := pg.One[player](ctx, db, `SELECT id, name, goals FROM player WHERE id = $1`, 2); one.Name != "bob" || !ok || err != nil {
		t.Errorf("got %v, %t, %v", one, ok, err)
	}

	if _, ok, err := pg.One[player](ctx, db, `SELECT id, name, goals FROM player WHERE id = $1`, 3); ok || err != nil {
		t.Errorf("of nobody: %t, %v", ok, err)
	}

	if n, ok, err := pg.Value[int](ctx, db, `SELECT count(*)::int FROM player`); n != 2 || !ok || err != nil {
		t.Errorf("got %d, %t, %v", n, ok, err)
	}

	if names, err := pg.Values[string](ctx, db,
		`SELECT name FROM player ORDER BY id DESC`); strings.Join(names, " ") != "bob ann" || err != nil {
		t.Errorf("got %q, %v", names, err)
	}

	if n, err := pg.Do(ctx, db, `UPDATE player SET goals = goals + 1`); n != 2 || err != nil {
		t.Errorf("changed %d, %v", n, err)
	}
}

// TestTime: now() is the time of the clock, also in the defaults of a table.
func TestTime(t *testing.T) {
	t.Parallel()

	at := noon
	db := shared(t, func(e *app.Env) { e.Now = func() time.Time { return at } })

	for _, want := range []time.Time{noon, noon.Add(time.Millisecond), noon.Add(-time.Hour)} {
		at = want
		if got, _, err := pg.Value[time.Time](t.Context(), db, `SELECT now()`); !got.Equal(want) || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}

		if got, _, err := pg.Value[time.Time](t.Context(), db,
			`INSERT INTO player (id, name) SELECT max(id) + 1, max(id)::text FROM player RETURNING joined`); !got.Equal(want) || err != nil {
			t.Errorf("a default: got %v, %v, want %v", got, err, want)
		}
	}
}

// TestSession: a statement and a wait for a lock end, times are in UTC, and the server's log
// names the program.
func TestSession(t *testing.T) {
	t.Parallel()

	db := shared(t, func(e *app.Env) { e.Patience = 1 })
	for name, want := range map[string]string{
		"application_name":                    "matchday",
		"TimeZone":                            "UTC",
		"statement_timeout":                   "10s",
		"lock_timeout":                        "3s",
		"idle_in_transaction_session_timeout": "10s",
	} {
		if got, _, err := pg.Value[string](t.Context(), db, `SHOW `+name); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestServerThatDoesNotAnswer: a connection is given up after 5 s.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := pg.Open(t.Context(), app.Env{
			Stage:   spec.Local,
			Setting: func(string) string { return "postgres://reader@192.0.2.1/club" },
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}, club)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()

		began := time.Now()

		_, _, err = pg.Value[int](t.Context(), db, `SELECT 1`)
		if took := time.Since(began); problem.Of(err) != problem.Unavailable || took != 5*time.Second {
			t.Errorf("after %v: %v, want Unavailable after 5 s", took, err)
		}
	})
}

// TestErrors: what a later try may not have is Unavailable.
func TestErrors(t *testing.T) {
	t.Parallel()
	name := pgtest.Create(t, club)

	admin, reader := open(t, pgtest.Shared(t), name, spec.SQLAdmin), open(t, pgtest.Shared(t), name, "club_reader")
	for what, c := range map[string]struct {
		db   pg.DB
		sql  string
		kind problem.Kind
		text string
	}{
		"a constraint":       {admin, `UPDATE player SET goals = -1`, problem.Internal, "player_goals"},
		"no such table":      {admin, `SELECT * FROM coach`, problem.Internal, "42P01"},
		"not granted":        {reader, `UPDATE player SET goals = 1`, problem.Internal, "permission denied"},
		"statement timeout":  {admin, `SET statement_timeout = 1; SELECT pg_sleep(5)`, problem.Unavailable, "57014"},
		"ended by the admin": {admin, `SELECT pg_terminate_backend(pg_backend_pid())`, problem.Unavailable, "57P01"},
		"no database":        {open(t, pgtest.Shared(t), "nowhere", spec.SQLAdmin), `SELECT 1`, problem.Internal, "3D000"},
	} {
		_, err := pg.Do(t.Context(), c.db, c.sql)
		if problem.Of(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: got %v, want the kind %s and %q", what, err, c.kind.Code(), c.text)
		}

		if e, ok := errors.AsType[*problem.Error](err); ok && (e.RetryAfter != 15*time.Second || e.Code != "database_unavailable") {
			t.Errorf("%s: %s after %v", what, e.Code, e.RetryAfter)
		}
	}

	_, err := pg.Do(t.Context(), admin, `UPDATE player SET name = 'ann'`)
	if !pg.Violates(err, "player_name") || pg.Violates(err, "player_goals") || pg.Violates(nil, "player_name") {
		t.Errorf("got %v", err)
	}
}

// TestKilledServer: a server that is away, and then back.
func TestKilledServer(t *testing.T) {
	t.Parallel()

	e, err := postgres.Start(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(e.Stop)

	if err := databases.Create(t.Context(), e, club, "club"); err != nil {
		t.Fatal(err)
	}

	db := open(t, e, "club", spec.SQLAdmin)

	score := func() error { _, err := pg.Do(t.Context(), db, `UPDATE player SET goals = goals + 1`); return err }
	if err := score(); err != nil {
		t.Fatal(err)
	}

	e.Kill()

	for range 2 { // a connection that is lost, and one that cannot be made
		if err := score(); problem.Of(err) != problem.Unavailable {
			t.Errorf("while the server is away: %v", err)
		}
	}

	if names, err := pg.Values[string](t.Context(), db, `SELECT name FROM player`); problem.Of(err) != problem.Unavailable {
		t.Errorf("while the server is away: %q, %v", names, err)
	}

	if players, err := pg.All[player](t.Context(), db, `SELECT id, name, goals FROM player`); problem.Of(err) != problem.Unavailable {
		t.Errorf("while the server is away: %+v, %v", players, err)
	}

	if err := e.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := score(); err != nil {
		t.Errorf("after it is back: %v", err)
	}
}

// TestTx: a transaction that loses is run again, one that fails leaves nothing.
func TestTx(t *testing.T) {
	t.Parallel()
	db, ctx := shared(t), t.Context()

	var together sync.WaitGroup // both have read before one writes
	together.Add(2)

	var (
		runs atomic.Int64
		wg   sync.WaitGroup
	)
	for range 2 {
		wg.Go(func() {
			first := true

			err := db.Tx(ctx, func(tx pgx.Tx) error {
				runs.Add(1)

				if _, err := pg.Do(ctx, tx, `SET TRANSACTION ISOLATION LEVEL SERIALIZABLE`); err != nil {
					return err
				}

				n, _, err := pg.Value[int](ctx, tx, `SELECT sum(goals)::int FROM player`)
				if err != nil {
					return err
				}

				if first {
					first = false

					together.Done()
					together.Wait()
				}

				_, err = pg.Do(ctx, tx, `UPDATE player SET goals = $1 WHERE id = 1`, n+1)

				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	if n, _, err := pg.Value[int](ctx, db, `SELECT goals FROM player WHERE id = 1`); n != 2 || err != nil || runs.Load() != 3 {
		t.Errorf("%d goals after %d runs, %v; want 2 after 3", n, runs.Load(), err)
	}

	refused := problem.New(problem.Conflict, "full", "the club is full")
	if err := db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := pg.Do(ctx, tx, `DELETE FROM player`); err != nil {
			return err
		}

		return refused
	}); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}

	if n, _, err := pg.Value[int](ctx, db, `SELECT count(*)::int FROM player`); n != 2 || err != nil {
		t.Errorf("%d players are left, %v", n, err)
	}
}

// TestDeployed: over verified TLS, with a password that is signed for 15 minutes.
func TestDeployed(t *testing.T) {
	t.Parallel()

	env := app.Env{
		Stage:   "prod",
		AWS:     aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "key", "session")},
		Setting: func(string) string { return "postgres://club_reader@db.example.com:5432/club?sslmode=verify-full" },
	}

	cfg, err := pg.Config(t.Context(), env, club)
	if err != nil {
		t.Fatal(err)
	}

	if cfg.TLSConfig == nil || cfg.TLSConfig.ServerName != "db.example.com" || cfg.TLSConfig.InsecureSkipVerify || len(cfg.Fallbacks) != 0 {
		t.Errorf("TLS is %+v, with %d ways without it", cfg.TLSConfig, len(cfg.Fallbacks))
	}

	authorities, err := os.ReadFile("rds.pem")
	if err != nil {
		t.Fatal(err)
	}

	want := x509.NewCertPool()
	if n := strings.Count(string(authorities), "BEGIN CERTIFICATE"); n < 20 || !want.AppendCertsFromPEM(authorities) ||
		!cfg.TLSConfig.RootCAs.Equal(want) {
		t.Errorf("the %d authorities of Amazon RDS are not those that are trusted", n)
	}

	for _, part := range []string{"db.example.com:5432?Action=connect", "DBUser=club_reader", "X-Amz-Expires=900",
		"X-Amz-Security-Token=session"} {
		if !strings.Contains(cfg.Password, part) {
			t.Errorf("the password lacks %q", part)
		}
	}

	failed := errors.New("no credentials")
	unsigned := env

	unsigned.AWS.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, failed })
	if _, err := pg.Config(t.Context(), unsigned, club); !errors.Is(err, failed) {
		t.Errorf("without credentials: got %v", err)
	}

	if _, virtual := cfg.RuntimeParams["search_path"]; virtual {
		t.Error("a deployed session has a search path")
	}

	for _, text := range []string{"", "no url"} {
		env.Setting = func(string) string { return text }
		if _, err := pg.Open(t.Context(), env, club); err == nil || !strings.HasPrefix(err.Error(), "MATCHDAY_SQL_CLUB") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestConnections: an instance of a function has two at most.
func TestConnections(t *testing.T) {
	t.Parallel()

	var dials atomic.Int64

	db := shared(t, func(e *app.Env) {
		e.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	})

	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := pg.Do(t.Context(), db, `SELECT pg_sleep(0.001)`); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	if n := dials.Load(); n > pg.MaxConns {
		t.Errorf("%d connections, want %d at most", n, pg.MaxConns)
	}
}
