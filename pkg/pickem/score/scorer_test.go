package score_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

func TestRebuildStandings(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.RequestScores("clash-of-tides")
	w.ScoreQueued()
	want := standingLines(w)

	s := testkit.Open(w.World, score.RebuildStandingsFunction(), score.OpenScorer)
	for _, spoil := range []func(){w.CorruptStandings, func() {}} {
		spoil()

		if got, err := s.RebuildStandings(w.NewContext(), score.RebuildStandings{Year: 2026}); err != nil || got.Members != 3 {
			t.Errorf("the rebuild returned %v, %v", got, err)
		}

		if got := standingLines(w); !slices.Equal(got, want) {
			t.Errorf("the standings after the rebuild (-want +got):\n%s", cmp.Diff(want, got))
		}
	}

	if _, err := s.RebuildStandings(w.NewContext(), score.RebuildStandings{Year: 2025}); err != nil || !slices.Equal(standingLines(w), want) {
		t.Errorf("after a rebuild of another year: %q, %v", standingLines(w), err)
	}

	if _, err := s.RebuildStandings(w.NewContext(), score.RebuildStandings{}); problem.Of(err) != problem.Invalid {
		t.Errorf("a rebuild without a year: %v, want Invalid", err)
	}
}

// TestStandingsHoldMaxYearPoints: more points are refused.
func TestStandingsHoldMaxYearPoints(t *testing.T) {
	t.Parallel()

	for points, want := range map[int]problem.Kind{item.MaxYearPoints - 10: problem.Internal, item.MaxYearPoints - 9: problem.Invalid} {
		w := pickemtest.New(t)
		id := w.RequestScores("clash-of-tides")[0]
		before := item.Prediction{
			Row: item.Row{
				PK:    item.UserRef("ann"),
				SK:    item.EventRef("2026-01-01-first"),
				GSIPK: item.EventRef("2026-01-01-first"),
				GSISK: "SCORE#999#ann",
				Type:  item.PredictionType,
			},
			EventID: "2026-01-01-first", BelongsTo: item.UserRef("ann"), Points: points, ScoredAt: item.FormatTime(pickemtest.Noon), ScoredRev: 1,
		}
		standing := standingAfter("ann", points)
		standing.Played, standing.LastEvent = 1, before.EventID
		testkit.PutRows(w.World, tables.Pickem, before)
		testkit.PutRows(w.World, tables.Pickem, standing)

		err := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id})
		if problem.Of(err) != want || want == problem.Internal && err != nil {
			t.Errorf("after %d points, 10 more: %v", points, err)
		}
	}
}
