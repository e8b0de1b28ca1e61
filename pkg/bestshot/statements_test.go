package bestshot_test

import (
	"testing"

	"matchday/infra/testkit/pgtest"
	"matchday/pkg/bestshot/tables"
)

// TestStatements: the migrated database can prepare every statement, and code uses every statement.
func TestStatements(t *testing.T) {
	t.Parallel()
	pgtest.CheckStatements(t, tables.DB, ".")
}
