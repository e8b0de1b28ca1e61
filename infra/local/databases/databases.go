// Package databases creates the SQL databases of the spec on a PostgreSQL server of this
// machine, with what Aurora provides in the cloud, and with the time of a simulated clock.
package databases

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/postgres"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/pg/migrate"
	"matchday/pkg/spec"
)

// virtual makes now() and clock_timestamp() return a session's setting: see pg.Open.
const virtual = `
CREATE SCHEMA IF NOT EXISTS ` + pg.VirtualTime + ` AUTHORIZATION ` + spec.SQLAdmin + `;
GRANT USAGE ON SCHEMA ` + pg.VirtualTime + ` TO PUBLIC;
CREATE OR REPLACE FUNCTION ` + pg.VirtualTime + `.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT coalesce(nullif(current_setting('` + pg.VirtualTime + `.now', true), '')::timestamptz, pg_catalog.now()) $$;
CREATE OR REPLACE FUNCTION ` + pg.VirtualTime + `.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT coalesce(nullif(current_setting('` + pg.VirtualTime + `.now', true), '')::timestamptz, pg_catalog.clock_timestamp()) $$;
ALTER SCHEMA public OWNER TO ` + spec.SQLAdmin

// Create creates a database with a name, and migrates it. An existing one is only migrated.
func Create(ctx context.Context, e *postgres.Engine, d spec.SQLDatabase, name string) error {
	if err := prepare(ctx, e, name); err != nil {
		return fmt.Errorf("create the database %s: %w", d.Name, err)
	}

	cfg, err := pgx.ParseConfig(e.URL(spec.SQLAdmin, name))
	if err != nil {
		return err
	}

	cfg.RuntimeParams["search_path"] = "public, " + pg.VirtualTime + ", pg_catalog"
	_, err = migrate.Up(ctx, d, cfg)

	return err
}

// Drop deletes a database, and ends its connections.
func Drop(ctx context.Context, e *postgres.Engine, name string) error {
	c, err := pgx.Connect(ctx, e.URL("", "postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)

	_, err = c.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")

	return err
}

// prepare creates what the cloud has before the migrations: the owner and the database; and the
// simulated time, which only a local database has.
func prepare(ctx context.Context, e *postgres.Engine, name string) error {
	c, err := pgx.Connect(ctx, e.URL("", "postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)

	var owner, database bool
	if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), EXISTS (SELECT FROM pg_database WHERE datname = $2)",
		spec.SQLAdmin, name).Scan(&owner, &database); err != nil {
		return err
	}

	if !owner {
		if _, err := c.Exec(ctx, "CREATE ROLE "+spec.SQLAdmin+" LOGIN CREATEROLE CREATEDB"); err != nil {
			return err
		}
	}

	if !database {
		if _, err := c.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+spec.SQLAdmin); err != nil {
			return err
		}
	}

	own, err := pgx.Connect(ctx, e.URL("", name))
	if err != nil {
		return err
	}
	defer own.Close(ctx)

	_, err = own.Exec(ctx, virtual)

	return err
}
