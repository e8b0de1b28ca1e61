// Package migrate brings the schema of a database to its newest version.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"matchday/pkg/spec"
)

const (
	// tries is how often a run begins again because a migration did not get a lock in time.
	tries = 5
	// pause is the time before the next try, in which statements go on that waited for the
	// same lock.
	pause = time.Second
	// lockNotAvailable is PostgreSQL's code for a lock_timeout.
	lockNotAvailable = "55P03"
)

// Up applies the migrations of d that the database at cfg lacks, in order, each in a
// transaction, and returns the version of the schema. cfg logs in as spec.SQLAdmin. Concurrent
// runs wait for each other. A migration that does not get a lock within cfg's lock_timeout is tried
// again, up to 5 times. A second run applies nothing.
func Up(ctx context.Context, d spec.SQLDatabase, cfg *pgx.ConnConfig) (version int64, err error) {
	db := sql.OpenDB(stdlib.GetConnector(*cfg))
	defer db.Close()

	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return 0, err
	}

	p, err := goose.NewProvider(goose.DialectPostgres, db, d.Migrations, goose.WithSessionLocker(locker))
	if err != nil {
		return 0, fmt.Errorf("read the migrations of %s: %w", d.Name, err)
	}

	for try := 1; ; try++ {
		_, err := p.Up(ctx)
		if err == nil {
			return p.GetDBVersion(ctx)
		}

		if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != lockNotAvailable || try == tries {
			return 0, fmt.Errorf("migrate %s: %w", d.Name, err)
		}

		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("migrate %s: %w", d.Name, ctx.Err())
		case <-time.After(pause):
		}
	}
}
