// Package schema migrates the database at each deployment.
package schema

import (
	"context"
	"log/slog"
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/pg/migrate"
	"matchday/pkg/spec"
)

// Migrator is the service that migrates the database.
type Migrator struct{ env app.Env }

// Open opens the service that migrates the database.
func Open(_ context.Context, env app.Env) (*Migrator, error) { return &Migrator{env}, nil }

// MigrateFunction brings the database to its newest version.
func MigrateFunction() app.Function {
	return app.Migration(spec.Function{
		Name:   "bestshot/migrate",
		Does:   "Brings the database to its newest version, at each deployment.",
		IfDown: "A deployment fails, and the version before stays.",
		On:     spec.Migration{Of: tables.DB},
		SQL:    []spec.SQLLogin{tables.DB.As(spec.SQLAdmin)},
		Memory: 256, Timeout: 5 * time.Minute, Reserved: 1,
	}, Open, (*Migrator).Migrate)
}

// Migrate applies the migrations that the database does not have. A second run applies none.
func (s *Migrator) Migrate(ctx context.Context) error {
	cfg, err := pg.Config(ctx, s.env, tables.DB)
	if err != nil {
		return err
	}

	version, err := migrate.Up(ctx, tables.DB, cfg)
	if err == nil {
		slog.InfoContext(ctx, "the schema is up to date", "version", version)
	}

	return err
}
