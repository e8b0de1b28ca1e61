package bestshot

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"

	"matchday/infra/tools/events/story"
	"matchday/pkg/bestshot/tables"
)

// samples returns what the sample events need: the rows of scene.sql, and a database that can be
// stopped.
func (h *Host) samples() story.Samples {
	return story.Samples{
		Prepare: h.prepareSamples,
		Faults:  map[string]func(on bool){"the database is away": h.loseDatabase},
	}
}

//go:embed scene.sql
var scene string

// prepareSamples stores the scene.
func (h *Host) prepareSamples(func(string, map[string]any) error) error {
	ctx := context.Background()

	conn, err := pgx.Connect(ctx, h.SQLURL(tables.DB, ""))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)

	_, err = conn.Exec(ctx, scene)

	return err
}

// loseDatabase kills the database, or starts it again.
func (h *Host) loseDatabase(away bool) {
	if away {
		h.SQL.Kill()
	} else if err := h.SQL.Restart(context.Background()); err != nil {
		panic(err) // the tests cannot go on
	}
}
