package pg_test

import (
	"errors"
	"maps"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"matchday/infra/testkit/pgtest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/pg/migrate"
	"matchday/pkg/spec"
)

// TestMigrationThatWaitsForALock: other statements of a table queue behind a migration that waits
// for its lock, so the migration gives up as they do. It succeeds when the lock is free.
func TestMigrationThatWaitsForALock(t *testing.T) {
	t.Parallel()

	e, name := pgtest.Shared(t), pgtest.Create(t, club)
	db := open(t, e, name, spec.SQLAdmin)

	next := spec.SQLDatabase{Name: club.Name, Migrations: fstest.MapFS{
		"00001_create.sql": club.Migrations.(fstest.MapFS)["00001_create.sql"],
		"00002_team.sql":   {Data: []byte("-- +goose Up\nALTER TABLE player ADD team text;\n")},
	}}

	cfg, err := pg.Config(t.Context(), app.Env{Stage: spec.Local, Setting: func(string) string { return e.URL(spec.SQLAdmin, name) }},
		club)
	if err != nil {
		t.Fatal(err)
	}

	got := maps.Clone(cfg.RuntimeParams)
	if got["lock_timeout"] != "3000" || got["statement_timeout"] != "" {
		t.Errorf("a lock may take %q ms, a statement %q ms; want 3000, and no limit", got["lock_timeout"], got["statement_timeout"])
	}

	cfg.RuntimeParams["lock_timeout"] = "20" // ms

	holder, err := pgx.Connect(t.Context(), e.URL(spec.SQLAdmin, name))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(t.Context())

	if _, err := holder.Exec(t.Context(), "BEGIN; SELECT * FROM player FOR UPDATE"); err != nil {
		t.Fatal(err)
	}

	_, err = migrate.Up(t.Context(), next, cfg)
	if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "55P03" {
		t.Errorf("while another session has the lock: got %v", err)
	}

	if _, err := holder.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}

	if version, err := migrate.Up(t.Context(), next, cfg); version != 2 || err != nil {
		t.Errorf("with a free lock: version %d, %v", version, err)
	}

	if _, err := pg.Do(t.Context(), db, `UPDATE player SET team = 'red'`); err != nil {
		t.Errorf("after the migration: %v", err)
	}
}
