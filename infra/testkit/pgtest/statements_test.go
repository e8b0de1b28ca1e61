package pgtest

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit"
	"matchday/pkg/spec"
)

// TestWrongStatementsAreReported: a statement that the database refuses, that has no comment, or
// that no code uses. The migrations are not checked.
func TestWrongStatementsAreReported(t *testing.T) {
	t.Parallel()

	folder := t.TempDir()
	for name, text := range map[string]string{
		"club.sql": `
-- name: CountPlayers
-- The number of players.
SELECT count(*)
FROM player;

-- name: CountGoals
-- The number of goals.
SELECT sum(goals)
FROM player;

-- name: DeletePlayers
DELETE FROM player;
`,
		"club.go":                "package club // sql.CountPlayers, sql.CountGoals\n",
		"club_test.go":           "package club // sql.DeletePlayers\n",
		"empty.sql":              "SELECT 1;\n",
		"migrations/00001_a.sql": "CREATE TABLE player ();\n",
	} {
		file := filepath.Join(folder, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
	}

	d := spec.SQLDatabase{Name: "statements", Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte(migration)}}}

	want := []string{
		`club.sql: CountGoals: ERROR: column "goals" does not exist (SQLSTATE 42703)`,
		"club.sql: DeletePlayers has no comment that says what it promises",
		"club.sql: no code uses sql.DeletePlayers",
		`empty.sql: the file begins with "SELECT 1"; expected "-- name: "`,
	}
	if diff := cmp.Diff(want, wrongStatements(t, d, folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
