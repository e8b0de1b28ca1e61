package scorer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// TestScoreOfRecordedMatches plays matches of Cricsheet ball by ball and compares score,
// batters and bowler after each ball, and the result.
func TestScoreOfRecordedMatches(t *testing.T) {
	t.Parallel()

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)
			state, problems := scorer.Read(r.FeedAt(0), score.State{})
			scoretest.NoProblems(t, problems)

			if state.Phase != sportmonks.Upcoming || state.For("").Headline == "" {
				t.Fatalf("before the start: %+v", state)
			}

			for n := 1; n <= len(r.Totals); n++ {
				state, problems = scorer.Read(r.FeedAt(n), state)
				scoretest.NoProblems(t, problems)
				r.CheckState(t, state, n)
			}

			r.CheckBalls(t)

			for _, note := range []bool{true, false} {
				f := r.FinalFeed(note)

				got, problems := scorer.Read(f, state)
				if note {
					scoretest.NoProblems(t, problems)
				}

				if !note && got.Phase != sportmonks.Closed {
					if r.Info.Outcome.Result == "" && (got.Phase == sportmonks.Result || !got.Pending) {
						t.Fatalf("a finish without a note has the result %+v, want none", got.Result)
					}

					got, _ = scorer.Final(f, got)
				}

				r.CheckResult(t, got)
			}
		})
	}
}
