package bestshot

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"matchday/infra/testkit"
	"matchday/infra/testkit/pgtest"
	"matchday/pkg/bestshot/tables"
)

// TestStatements: the migrated database can prepare every statement, and code uses every statement.
func TestStatements(t *testing.T) {
	t.Parallel()

	for _, folder := range []string{"bench", "replay"} {
		pgtest.CheckStatements(t, tables.DB, folder)
	}
}

// TestScene: the rows that the sample events name can be stored.
func TestScene(t *testing.T) {
	t.Parallel()

	db, err := pgx.Connect(t.Context(), pgtest.Shared(t).URL("", pgtest.Create(t, tables.DB)))
	testkit.Must(t, err)
	defer db.Close(t.Context())

	_, err = db.Exec(t.Context(), scene)
	testkit.Must(t, err)
}
