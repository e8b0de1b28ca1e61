// Package pgtest gives each test its own databases on a PostgreSQL server.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"matchday/infra/local/databases"
	"matchday/infra/sim/postgres"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// shared starts the server that all tests of the program use. It ends with the program.
var shared = sync.OnceValues(func() (*postgres.Engine, error) {
	started.Store(true)
	return postgres.Start(context.Background(), "")
})

var started atomic.Bool

// Run runs the tests of a program, for its TestMain, and then deletes the data of the server.
// Without it the data stays on the disk.
func Run(m *testing.M) (code int) {
	code = m.Run()

	if started.Load() {
		if e, err := shared(); err == nil {
			e.Stop()
		}
	}

	return code
}

// template is a migrated database, and its copies that no test uses at the moment.
type template struct {
	name string
	// reset deletes the rows of all tables that the migrations leave empty.
	reset string
	// filled are the other tables.
	filled []string
	// state is what fingerprint returns of an unused copy.
	state string
	idle  []*database
}

// database is a copy of a template.
type database struct {
	name  string
	admin *pgx.Conn // of the superuser
}

var templates struct {
	sync.Mutex
	made map[string]*template // by the name in the spec
}

// Create returns the name of a copy of a migrated database that is the test's alone. A copy
// serves one test after the other: its rows are deleted after each, which takes a tenth of the
// time of a new copy.
func Create(t testing.TB, d spec.SQLDatabase) (name string) {
	t.Helper()
	e := Shared(t)

	from, err := templateOf(t.Context(), e, d)
	if err != nil {
		t.Fatal(err)
	}

	db := from.take()
	if db == nil {
		db = &database{name: strings.ToLower(rand.Text()[:12])}
		copied := "CREATE DATABASE " + pgx.Identifier{db.name}.Sanitize() + " TEMPLATE " + pgx.Identifier{from.name}.Sanitize() +
			" STRATEGY FILE_COPY"
		run(t, e, copied)

		if db.admin, err = pgx.Connect(t.Context(), e.URL("", db.name)); err != nil {
			t.Fatal(err)
		}
	}

	t.Cleanup(func() {
		if err := from.put(context.Background(), db); err != nil {
			db.admin.Close(context.Background())
			databases.Drop(context.Background(), e, db.name) // unless the test has stopped the server
		}
	})

	return db.name
}

// Shared returns the server of Create.
func Shared(t testing.TB) *postgres.Engine {
	t.Helper()

	e, err := shared()
	if err != nil {
		t.Fatal(err)
	}

	return e
}

// templateOf returns the template of a database. It makes one at the first call.
func templateOf(ctx context.Context, e *postgres.Engine, d spec.SQLDatabase) (*template, error) {
	templates.Lock()
	defer templates.Unlock()

	if t := templates.made[d.Name]; t != nil {
		return t, nil
	}

	t := &template{name: "template-" + strings.ToLower(rand.Text()[:12])}
	if err := databases.Create(ctx, e, d, t.name); err != nil {
		return nil, err
	}

	c, err := pgx.Connect(ctx, e.URL("", t.name))
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)

	if t.reset, t.filled, err = resetOf(ctx, c); err != nil {
		return nil, err
	}

	if t.state, err = t.fingerprint(ctx, c); err != nil {
		return nil, err
	}

	if templates.made == nil {
		templates.made = map[string]*template{}
	}

	templates.made[d.Name] = t

	return t, nil
}

// take returns a copy that no test uses, nil if there is none.
func (t *template) take() *database {
	templates.Lock()
	defer templates.Unlock()

	n := len(t.idle)
	if n == 0 {
		return nil
	}

	db := t.idle[n-1]
	t.idle = t.idle[:n-1]

	return db
}

// put ends the connections of a copy, deletes its rows and keeps it for the next test. It
// returns an error if the copy does not become what it was.
func (t *template) put(ctx context.Context, db *database) error {
	if err := terminate(ctx, db.admin); err != nil {
		return err
	}

	if _, err := db.admin.Exec(ctx, t.reset, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}

	state, err := t.fingerprint(ctx, db.admin)
	if err != nil {
		return err
	}

	if state != t.state {
		return errors.New("the test has changed the schema, or rows of the migrations")
	}

	templates.Lock()
	defer templates.Unlock()

	t.idle = append(t.idle, db)

	return nil
}

// terminate ends the other connections of a database, and returns when the server has rolled back what
// they left. It does not give pg_terminate_backend a time to wait, because that looks every 100 ms, for
// one connection after the other.
func terminate(ctx context.Context, c *pgx.Conn) error {
	const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
	if _, err := c.Exec(ctx, "SELECT pg_terminate_backend(pid) "+others); err != nil {
		return err
	}

	for left := 1; left > 0; {
		if err := c.QueryRow(ctx, "SELECT count(*) "+others).Scan(&left); err != nil {
			return err
		}
	}

	return nil
}

// resetOf returns the statements that delete the rows of all tables that are empty now, and
// start their sequences again, and the other tables.
func resetOf(ctx context.Context, c *pgx.Conn) (statements string, filled []string, err error) {
	const all = `
SELECT format('%I.%I', schemaname, tablename)
FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
ORDER BY 1`

	rows, err := c.Query(ctx, all)
	if err != nil {
		return "", nil, err
	}

	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", nil, err
	}

	text := "SET session_replication_role = replica;" // without triggers and foreign keys

	for _, table := range tables {
		var has bool
		if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+table+")").Scan(&has); err != nil {
			return "", nil, err
		}

		if has {
			filled = append(filled, table)
			continue
		}

		text += "DELETE FROM " + table + ";"
	}

	rows, err = c.Query(ctx, "SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences WHERE last_value IS NULL")
	if err != nil {
		return "", nil, err
	}

	sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, s := range sequences {
		text += "ALTER SEQUENCE " + s + " RESTART;"
	}

	return text, filled, err
}

// fingerprint returns a hash of a database's schema, with its privileges and row security, and
// of the rows of filled tables.
func (t *template) fingerprint(ctx context.Context, c *pgx.Conn) (hash string, err error) {
	parts := `
SELECT md5(string_agg(part, E'\n' ORDER BY part))
FROM (
    SELECT format('%s %s %s %s', relname, relkind, relacl, relrowsecurity)
    FROM pg_class
    WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$')
    UNION ALL
    SELECT format('%s %s %s %s', attrelid::regclass, attname, atttypid, attnotnull)
    FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    WHERE relkind = 'r' AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$')
    UNION ALL
    SELECT format('%s %s %s', proname, prosrc, proacl)
    FROM pg_proc
    WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$')
`
	for _, table := range t.filled {
		parts += "    UNION ALL SELECT row::text FROM " + table + " row\n"
	}

	parts += ") AS schema (part)"
	err = c.QueryRow(ctx, parts).Scan(&hash)

	return hash, err
}

func run(t testing.TB, e *postgres.Engine, sql string) {
	t.Helper()

	c, err := pgx.Connect(t.Context(), e.URL("", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())

	for {
		_, err := c.Exec(t.Context(), sql)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "55006" {
			continue // the server is still closing the connection that made the template
		}

		if err != nil {
			t.Fatal(err)
		}

		return
	}
}

// Databases are the databases of a test's world.
type Databases struct {
	world  *testkit.World
	server *postgres.Engine
	names  map[string]string // of the test's, by the name in the spec
}

// callName is the name of the databases' calls for dynamotest.Process.Ended.
const callName = "SQL"

// Attach gives the world migrated databases without rows.
func Attach(w *testkit.World, all ...spec.SQLDatabase) *Databases {
	w.T.Helper()

	d := &Databases{world: w, server: Shared(w.T), names: map[string]string{}}
	for _, one := range all {
		d.names[one.Name] = Create(w.T, one)
	}

	d.attach()

	return d
}

// AttachOwnServer is Attach with a server of the world's own, which the test may kill.
func AttachOwnServer(w *testkit.World, all ...spec.SQLDatabase) *Databases {
	w.T.Helper()

	e, err := postgres.Start(context.Background(), "")
	testkit.Must(w.T, err)
	w.T.Cleanup(e.Stop)

	d := &Databases{world: w, server: e, names: map[string]string{}}
	for _, one := range all {
		d.names[one.Name] = one.Name
		testkit.Must(w.T, databases.Create(w.T.Context(), e, one, one.Name))
	}

	d.attach()

	return d
}

func (d *Databases) attach() {
	d.world.Stores = append(d.world.Stores, testkit.Store{
		Name: callName,
		URL: func(fn app.Function, setting string) string {
			for _, l := range fn.SQL {
				if l.Database.Env() == setting {
					return d.server.URL(l.Role, d.names[l.Database.Name])
				}
			}

			return ""
		},
		At: func(address string) bool { return address == d.server.Address },
	})
}

// Server returns the server of the databases.
func (d *Databases) Server() *postgres.Engine { return d.server }

// Open returns the pool of a database, as the superuser, at the time of the world's clock.
func (d *Databases) Open(of spec.SQLDatabase) pg.DB {
	w := d.world
	w.T.Helper()
	db, err := pg.Open(w.T.Context(), app.Env{
		Stage:    spec.Local,
		Clock:    app.Clock{Now: w.Clock.Now},
		Patience: w.Patience,
		Setting:  func(string) string { return d.server.URL("", d.names[of.Name]) },
	}, of)
	testkit.Must(w.T, err)
	w.T.Cleanup(db.Close)

	return db
}
