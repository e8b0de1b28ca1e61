package bestshot_test

import (
	"context"
	_ "embed"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
)

//go:embed testdata/before_ranges.txt
var beforeRanges string

// old are statements of the code before settlements had ranges. A deployment migrates the database
// before it replaces the functions.
var old = pg.MustParse[struct {
	LockTournament, LockMatch, Ledger, AddSettlement, MarkSettled, RaiseLeaderboard, RepairPoints,
	DeletePointsWithoutLedger, PutGuess string
}](beforeRanges)

// settleAsBefore settles match n as the code before ranges does.
func settleAsBefore(w *bestshottest.World, c *bestshottest.Tournament, n, version, home, away int) {
	w.T.Helper()

	m := w.MatchID(n)
	testkit.Must(w.T, w.DB.Tx(w.T.Context(), func(tx pgx.Tx) error {
		for _, s := range []struct {
			statement string
			args      []any
		}{
			{old.LockTournament, []any{c.ID}},
			{old.LockMatch, []any{m, c.ID}},
			{old.Ledger, []any{m, c.ID, version, home, away, 1, 1, false, "1"}},
			{old.AddSettlement, []any{m, version, fmt.Sprint(m, "#", version), "result", false, home, away, 1, 1, 2}},
			{old.MarkSettled, []any{m, version}},
			{old.RaiseLeaderboard, []any{c.ID, "1", false}},
		} {
			if _, err := pg.Do(w.T.Context(), tx, s.statement, s.args...); err != nil {
				return err
			}
		}

		return nil
	}))
}

// TestOldCodeOnTheNewSchema: the code before ranges guesses, settles and repairs on the migrated database.
// Histograms and leaderboards are right, and the code of now goes on with its rows.
func TestOldCodeOnTheNewSchema(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	for i, user := range []string{"ann", "bob"} {
		for range 2 { // the second replaces the first
			_, err := pg.Do(t.Context(), w.DB, old.PutGuess, w.MatchID(1), user, 2*(1-i), 0)
			testkit.Must(t, err)
		}
	}

	w.MoveClock(kickOff.Add(2 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)))
	settleAsBefore(w, c, 1, 1, 1, 0)
	w.Settle() // finds it settled

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("settled by the code of before (-want +got):\n%s", diff)
	}

	for _, statement := range []string{old.RepairPoints, old.DeletePointsWithoutLedger} {
		n, err := pg.Do(t.Context(), w.DB, statement, c.ID)
		if n != 0 || err != nil {
			t.Errorf("the code of before repairs %d rows: %v", n, err)
		}
	}

	w.Do("ann", "PATCH", "/member", map[string]string{"nickName": "Äna"})
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 0, 0)))
	w.Settle()

	if diff := cmp.Diff([]string{"1 bob 3", "2 Äna 0"}, c.Board("ann")); diff != "" {
		t.Errorf("corrected by the code of now (-want +got):\n%s", diff)
	}
}

// TestOldCodeSettlesWhatHasBegun: the code before ranges settles a match of which a range is settled. The
// code of now goes on once more, because the other did not know when play began, and changes no points.
func TestOldCodeSettlesWhatHasBegun(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), func(ctx context.Context, env app.Env) (*settlement.Worker, error) {
		return settlement.OpenWith(ctx, env, 1, 1)
	})

	testkit.Must(t, s.SettleMatch(w.NewContext(), m))
	settleAsBefore(w, c, 1, 1, 1, 0)

	for range 4 {
		testkit.Must(t, s.SettleMatch(w.NewContext(), m))
	}

	if diff := cmp.Diff([]string{"ann 1 3", "bob 1 0"}, ledger(w)); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}

	if n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM settling`); n != 0 || err != nil {
		t.Errorf("%d settlements go on: %v", n, err)
	}

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
