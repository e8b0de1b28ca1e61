package match_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// TestOlderScoreDoesNotReplaceASummary: no write of an earlier slot changes a summary: neither that of a tick, nor
// that of a sync, nor the end of live.
func TestOlderScoreDoesNotReplaceASummary(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	f.LastSlot = 4
	state := func(phase sportmonks.Phase) score.State { return score.State{ID: "7", Phase: phase} }
	testkit.Must(t, putScore(t, w, f, state(sportmonks.Live), 5, true))

	want := testkit.Row[match.SummaryRow](w.World, tables.Summaries, "7")
	if want.Live == "" || want.Score.Phase != sportmonks.Live || want.LastSlot != 5 || want.LeagueName != "The League" {
		t.Fatalf("after slot 5: %+v", want)
	}

	stale := want
	stale.LastSlot, stale.LeagueName, stale.Score.Phase = 4, "old", sportmonks.Upcoming

	for name, write := range map[string]func() error{
		"a tick": func() error {
			return putScore(t, w, f, state(sportmonks.Result), 4, false)
		},
		"a sync":      func() error { return stale.Sync(t.Context(), w.DB()) },
		"the archive": func() error { return match.SetLive(t.Context(), w.DB(), f, false) },
	} {
		testkit.Must(t, write())

		if diff := cmp.Diff(want, testkit.Row[match.SummaryRow](w.World, tables.Summaries, "7")); diff != "" {
			t.Errorf("%s of an earlier slot (-want +got):\n%s", name, diff)
		}
	}

	f.LastSlot = 5
	for _, live := range []bool{false, true, true} {
		testkit.Must(t, match.SetLive(t.Context(), w.DB(), f, live))

		if got := testkit.Row[match.SummaryRow](w.World, tables.Summaries, "7"); (got.Live != "") != live {
			t.Errorf("live %v: %+v", live, got)
		}
	}

	f.MatchID = "8"
	testkit.Must(t, putScore(t, w, f, state(sportmonks.Live), 5, true))
	testkit.Must(t, match.SetLive(t.Context(), w.DB(), f, true))

	// It had no summary: no list has it before the next sync.
	if listed, err := match.Summaries(t.Context(), w.DB(), []string{"7", "8"}); err != nil || len(listed) != 1 {
		t.Errorf("summaries %+v, %v; want that of 7", listed, err)
	}

	synced := want
	synced.MatchID = "8"
	testkit.Must(t, synced.Sync(t.Context(), w.DB()))

	if listed, err := match.Summaries(t.Context(), w.DB(), []string{"7", "8"}); err != nil || len(listed) != 2 {
		t.Errorf("summaries after a sync %+v, %v; want 7 and 8", listed, err)
	}
}

// putScore writes a summary as a tick does, and ignores that the slot is an earlier one.
func putScore(t *testing.T, w *crickettest.World, f match.Fixture, s score.State, slot int64, live bool) error {
	t.Helper()

	write := match.SummaryWrite(f, s, slot, live)

	return dynamo.IgnoreRefused(dynamo.Transact(t.Context(), w.DB(), tables.UpdateSummary, write))
}

// TestSummaryOfAMatchThatIsOver has the result and no place among those in play.
func TestSummaryOfAMatchThatIsOver(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	s := score.State{ID: "7", Phase: sportmonks.Result, Result: score.Result{Text: "Harbour won by 3 runs"}}
	testkit.Must(t, putScore(t, w, f, s, match.SlotOf(crickettest.KickOff), true))

	got := testkit.Row[match.SummaryRow](w.World, tables.Summaries, "7")
	if got.Live != "" || got.Score.Result != s.Result.Text || got.Score.OverAt != crickettest.KickOff.Unix() {
		t.Errorf("summary %+v", got)
	}
}
