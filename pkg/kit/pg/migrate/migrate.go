// Package migrate brings the schema of a database to its newest version.
package migrate

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"matchday/pkg/spec"
)

// Up applies the migrations of d that the database at cfg lacks, in order, each in a
// transaction, and returns the version of the schema. cfg logs in as spec.SQLAdmin. Concurrent
// runs wait for each other. A second run applies nothing.
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

	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate %s: %w", d.Name, err)
	}

	return p.GetDBVersion(ctx)
}
