package bestshot_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// TestReadersCannotWrite: what answers a GET logs in as the role that only reads, and so does the export.
func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()

	for _, f := range bestshot.Room().Functions {
		r, ok := f.On.(spec.Route)
		if !ok && f.Name != "bestshot/export-user" || ok && r.Method != "GET" {
			continue
		}

		for _, l := range f.SQL {
			if l.Role != tables.Reader.Role {
				t.Errorf("%s logs in as %s", f.Name, l.Role)
			}
		}
	}
}

// TestRolesWriteWhatTheyNeed: the grants of the reader and of the roles of jobs. Those that the code of their
// functions needs, they have: all tests log in as the function does.
func TestRolesWriteWhatTheyNeed(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	for role, want := range map[string]string{
		tables.Reader.Role: "",
		tables.Notifier.Role: `
match: UPDATE (told_version, telling)
points_pass: DELETE, INSERT, UPDATE
reminder: INSERT, UPDATE
reminder_pass: INSERT, UPDATE`,
		tables.Settler.Role: `
match: UPDATE
outbox: DELETE, INSERT, UPDATE
question: UPDATE
question_ledger: INSERT
round_score: INSERT, UPDATE
scoreboard_ledger: INSERT
settlement: INSERT
settlement_dlq: INSERT, UPDATE
settling: DELETE, INSERT, UPDATE
tournament: UPDATE
tournament_scoreboard: INSERT, UPDATE`,
		tables.Keeper.Role: `
forgotten: INSERT
guess: DELETE, UPDATE
joker: DELETE, UPDATE
league: DELETE, UPDATE
league_finished: DELETE, INSERT, UPDATE
league_left: INSERT
league_role: DELETE, UPDATE
league_tournament: DELETE, UPDATE
match: DELETE, UPDATE
member: DELETE, UPDATE
question: UPDATE
question_answer: DELETE, UPDATE
question_ledger: DELETE, UPDATE
reminder: DELETE, UPDATE
round_score: DELETE, UPDATE
scoreboard_ledger: DELETE, UPDATE
settlement: UPDATE
tournament: DELETE, UPDATE
tournament_round: DELETE, UPDATE
tournament_scoreboard: DELETE, UPDATE`,
	} {
		got, err := pg.Values[string](t.Context(), w.DB, `
WITH all_grants AS (
    SELECT table_name, privilege_type::text AS text
    FROM information_schema.role_table_grants
    WHERE grantee = $1
    UNION ALL
    SELECT c.table_name, c.privilege_type || ' (' || string_agg(c.column_name, ', ' ORDER BY c.column_name DESC) || ')'
    FROM information_schema.role_column_grants c
    WHERE c.grantee = $1
        AND NOT EXISTS (
            SELECT
            FROM information_schema.role_table_grants t
            WHERE (t.grantee, t.table_name, t.privilege_type) = (c.grantee, c.table_name, c.privilege_type)
        )
    GROUP BY c.table_name, c.privilege_type
)
SELECT table_name || ': ' || string_agg(text, ', ' ORDER BY text)
FROM all_grants
WHERE text <> 'SELECT'
GROUP BY table_name
ORDER BY table_name`, role)
		testkit.Must(t, err)

		if diff := cmp.Diff(strings.TrimSpace(want), strings.Join(got, "\n")); diff != "" {
			t.Errorf("what %s writes (-want +got):\n%s", role, diff)
		}
	}
}
