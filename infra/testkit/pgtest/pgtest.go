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
	"matchday/pkg/spec"
)

// shared starts the server that all tests of the program use. It ends with the program.
var shared = sync.OnceValues(func() (*postgres.Engine, error) {
	started.Store(true)
	return postgres.Start(context.Background(), "")
})

var started atomic.Bool

// Run runs the tests of a program, for its TestMain, and deletes the data of the server after
// them. Without it the data stays on the disk.
func Run(m *testing.M) (code int) {
	code = m.Run()
	if started.Load() {
		if e, err := shared(); err == nil {
			e.Stop()
		}
	}
	return code
}

// templates are the migrated databases that those of the tests are copies of.
var templates struct {
	sync.Mutex
	made map[string]string // by name: that of the template
}

// Create creates a copy of a migrated database, deletes it after the test, and returns its
// name.
func Create(t testing.TB, d spec.SQLDatabase) (name string) {
	t.Helper()
	e := Shared(t)
	from, err := template(t.Context(), e, d)
	if err != nil {
		t.Fatal(err)
	}
	name = strings.ToLower(rand.Text()[:12])
	run(t, e, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE "+pgx.Identifier{from}.Sanitize()+" STRATEGY FILE_COPY")
	t.Cleanup(func() { databases.Drop(context.Background(), e, name) }) // unless the test has stopped the server
	return name
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

// template returns the name of the template of a database.
func template(ctx context.Context, e *postgres.Engine, d spec.SQLDatabase) (string, error) {
	templates.Lock()
	defer templates.Unlock()
	if name := templates.made[d.Name]; name != "" {
		return name, nil
	}
	name := "template-" + strings.ToLower(rand.Text()[:12])
	if err := databases.Create(ctx, e, d, name); err != nil {
		return "", err
	}
	if templates.made == nil {
		templates.made = map[string]string{}
	}
	templates.made[d.Name] = name
	return name, nil
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
			continue // the server still ends the connection that has made the template
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}
