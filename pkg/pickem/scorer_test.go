package pickem

import (
	"slices"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/kit/problem"
)

// spoil makes standings wrong: ann's, bob's, which are lost, those of a league
// that ann has left, and those of cat, who has not played.
func (w *world) spoil() {
	w.T.Helper()
	w.join("cat")
	wrong := testkit.Row[standing](w.World, table, ofUser("ann"), ofYear("2026"))
	wrong.Points, wrong.GSISK = 7, "SCORE#00007#ann"
	left, idle := wrong, wrong
	left.SK, left.GSIPK = inLeague("2026", "left"), tableOf("left", "2026")
	idle.PK, idle.BelongsTo, idle.GSISK = ofUser("cat"), ofUser("cat"), "SCORE#00007#cat"
	testkit.Put(w.World, table, wrong, left, idle)
	testkit.Must(w.T, w.Drop(table, ofUser("bob"), ofYear("2026")))
}

func TestRebuildStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.asked("clash-of-tides")
	w.work()
	want := w.totals()
	s := testkit.Open(w.World, RebuildStandingsFunction, OpenScorer)
	for _, spoil := range []func(){w.spoil, func() {}} {
		spoil()
		if got, err := s.RebuildStandings(w.Ctx(), RebuildStandings{2026}); err != nil || got.Members != 3 {
			t.Errorf("it looked at %v members, %v", got, err)
		}
		if got := w.totals(); !slices.Equal(got, want) {
			t.Errorf("rebuilt, the standings are %q, want %q", got, want)
		}
	}
	if _, err := s.RebuildStandings(w.Ctx(), RebuildStandings{2025}); err != nil || !slices.Equal(w.totals(), want) {
		t.Errorf("another year's made them %q, %v", w.totals(), err)
	}
	if _, err := s.RebuildStandings(w.Ctx(), RebuildStandings{}); problem.Of(err) != problem.Invalid {
		t.Errorf("no year is taken: %v", err)
	}
}

// TestLastPoint is as much as a year's standings hold, and a point more.
func TestLastPoint(t *testing.T) {
	t.Parallel()
	for points, want := range map[int]problem.Kind{maxStanding - 10: problem.Internal, maxStanding - 9: problem.Invalid} {
		w := newWorld(t)
		id := w.asked("clash-of-tides")[0]
		before := prediction{
			row:     row{PK: ofUser("ann"), SK: ofEvent("2026-01-01-first"), GSIPK: ofEvent("2026-01-01-first"), GSISK: "SCORE#999#ann", Type: predictionType},
			EventID: "2026-01-01-first", BelongsTo: ofUser("ann"), Points: points, ScoredAt: stamp(noon), ScoredRev: 1,
		}
		testkit.Put(w.World, table, before)
		err := testkit.Open(w.World, ScoreEventFunction, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{id})
		if problem.Of(err) != want || want == problem.Internal && err != nil {
			t.Errorf("after %d points, 10 more: %v", points, err)
		}
	}
}
