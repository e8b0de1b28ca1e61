package bestshot_test

import (
	"testing"
	"time"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

const samples = "../../events/bestshot"

// newFuzzed returns a room of which an administrator is a member, with the tournament, a match
// that is open and one that has ended, and the league of the samples.
func newFuzzed(f *testing.F) *bestshottest.World {
	w := bestshottest.New(f)
	w.Register(testkit.Administrator)
	t := w.Found("premier-league-2026")
	t.ID = "58de2f1b-1374-4c92-bd53-23a81943de01"
	_, err := pg.Do(f.Context(), w.DB, `
WITH renamed AS (
    UPDATE tournament
    SET id = $1::uuid
)
UPDATE rule
SET tournament_id = $1::uuid`, t.ID)
	testkit.Must(f, err)
	w.Ingest(t.Feed("1", bestshottest.Fixture(1, w.Clock.Now().Add(time.Hour), provider.Open),
		bestshottest.Fixture(3, w.Clock.Now().Add(-2*time.Hour), provider.Ended, 2, 1)))

	for n, id := range map[int]string{1: "6f0e4a3c-2b1d-4c5e-8f70-000000000001", 3: "6f0e4a3c-2b1d-4c5e-8f70-000000000003"} {
		_, err := pg.Do(f.Context(), w.DB, `UPDATE match SET id = $1::uuid WHERE id = $2::uuid`, id, w.MatchID(n))
		testkit.Must(f, err)
	}

	w.Do(testkit.Administrator, "POST", "/leagues", map[string]string{"name": "Admin"})
	_, err = pg.Do(f.Context(), w.DB, `
WITH made AS (
    INSERT INTO league (id, name, code, members)
    SELECT 'c1d2e3f4-0000-4000-8000-0000000b5001', name, 'SAMPLE01', members
    FROM league
    RETURNING id
)
INSERT INTO league_role (league_id, member_id, role)
SELECT made.id, member.id, 'admin'
FROM made
CROSS JOIN member`)
	testkit.Must(f, err)

	return w
}

func FuzzBody(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzBodies(f, w.World, w.Routes, samples)
}

func FuzzQuery(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzQueries(f, w.World, w.Routes, samples)
}
