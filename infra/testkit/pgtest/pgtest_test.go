package pgtest

import (
	"context"
	"os"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"matchday/infra/testkit"
	"matchday/pkg/spec"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

const migration = `-- +goose Up
CREATE TABLE club (name text PRIMARY KEY);
CREATE TABLE player (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, club text REFERENCES club);
INSERT INTO club VALUES ('United');
`

// TestCopiesAreReused: the next test gets the copy of the one before as a migration leaves it, a
// test at the same time another one, and none gets a copy whose schema or migrated rows a test
// has changed.
func TestCopiesAreReused(t *testing.T) {
	t.Parallel()

	d := spec.SQLDatabase{Name: "clubs", Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte(migration)}}}

	var last string

	for _, c := range []struct {
		name, change string
		reused       bool // by the next test
	}{
		{"rows", "INSERT INTO player (club) VALUES ('United'), ('United')", true},
		{"nothing", "SELECT", true},
		{"an open transaction", "BEGIN; INSERT INTO player (club) VALUES ('United')", true},
		{"the schema", "ALTER TABLE player ADD name text", false},
		{"rows of the migrations", "INSERT INTO club VALUES ('City')", false},
	} {
		got := ""

		t.Run(c.name, func(t *testing.T) {
			got = Create(t, d)
			if other := Create(t, d); other == got {
				t.Errorf("two databases at once are %s", got)
			}

			conn, err := pgx.Connect(t.Context(), Shared(t).URL("", got))
			testkit.Must(t, err)

			var clubs, players, next int

			const state = `
SELECT (SELECT count(*) FROM club), (SELECT count(*) FROM player), nextval(pg_get_serial_sequence('player', 'id'))`
			testkit.Must(t, conn.QueryRow(t.Context(), state).Scan(&clubs, &players, &next))

			if clubs != 1 || players != 0 || next != 1 {
				t.Errorf("the database has %d clubs and %d players, and the next player is %d; want 1, 0 and 1", clubs, players, next)
			}

			_, err = conn.Exec(t.Context(), c.change, pgx.QueryExecModeSimpleProtocol)
			testkit.Must(t, err) // the connection stays open
		})
		templates.Lock()
		idle := len(templates.made[d.Name].idle)
		templates.Unlock()

		if want := map[bool]int{true: 2, false: 1}[c.reused]; idle != want {
			t.Errorf("after a change of %s %d copies wait for the next test, want %d", c.name, idle, want)
		}

		last = got
	}

	var exists bool

	conn, err := pgx.Connect(t.Context(), Shared(t).URL("", "postgres"))

	testkit.Must(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))

	testkit.Must(t, conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", last).Scan(&exists))

	if exists {
		t.Errorf("the copy %s that a test has changed is still there", last)
	}
}
