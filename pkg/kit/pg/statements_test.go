package pg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/pg"
)

const statements = `-- What clubs need.

-- name: CountPlayers
-- The number of players
-- with $1 goals.
SELECT count(*)
FROM player
-- of all clubs
WHERE goals = $1;

-- name: RenamePlayer
UPDATE player
SET name = $2
WHERE id = $1;
`

const (
	count  = "SELECT count(*)\nFROM player\n-- of all clubs\nWHERE goals = $1"
	rename = "UPDATE player\nSET name = $2\nWHERE id = $1"
)

func TestStatementsOfAFile(t *testing.T) {
	t.Parallel()

	got, err := pg.ParseStatements(statements)

	want := []pg.Statement{
		{Name: "CountPlayers", Comment: "The number of players\nwith $1 goals.", SQL: count},
		{Name: "RenamePlayer", SQL: rename},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	type fields struct{ CountPlayers, RenamePlayer string }

	if diff := cmp.Diff(fields{count, rename}, pg.MustParse[fields](statements)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFileAndFieldsHaveTheSameStatements: a program whose file and struct differ does not start.
func TestFileAndFieldsHaveTheSameStatements(t *testing.T) {
	t.Parallel()

	type one struct{ CountPlayers string }

	type three struct{ CountPlayers, RenamePlayer, DeletePlayer string }

	for want, load := range map[string]func(){
		"no field has the name of the statement RenamePlayer": func() { pg.MustParse[one](statements) },
		"no statement has the name of the field DeletePlayer": func() { pg.MustParse[three](statements) },
		"two statements have the name CountPlayers":           func() { pg.MustParse[one](statements + statements) },
		"the statement DeletePlayer is empty":                 func() { pg.MustParse[three](statements + "-- name: DeletePlayer\n-- Deletes.\n") },
		`the file begins with "SELECT`:                        func() { pg.MustParse[one]("SELECT 1;\n" + statements) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()

			load()
		}()
	}
}
