package bestshot_test

import (
	"testing"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

// TestPostponedMatchKeepsTheProjection: an answer that a match is still postponed does not raise the
// version of the round's matches. An answer with another date does.
func TestPostponedMatchKeepsTheProjection(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)

	version := func() int64 {
		v, _, err := pg.Value[int64](t.Context(), w.DB, `SELECT version FROM tournament_round WHERE tournament_id = $1 AND slug = '1'`, c.ID)
		testkit.Must(t, err)

		return v
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined)))
	before := version()
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined)))

	if after := version(); after != before {
		t.Errorf("still postponed: the version is %d, want %d", after, before)
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff.Add(hour), provider.NotDefined)))

	if after := version(); after == before {
		t.Errorf("postponed to another date: the version stays %d", after)
	}
}
