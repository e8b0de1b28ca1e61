package pickem_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
)

// TestSeason plays one event from its announcement to its corrected results.
func TestSeason(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	w.CreateShow(3)
	w.Pick("ann", pickemtest.Show, 0, 0, 0)
	w.Pick("bob", pickemtest.Show, 0, 1, 1)
	w.LockEvent(pickemtest.Show)

	late := w.Ask(event.PutPredictionsFunction(), "/app/events/"+pickemtest.Show+"/predictions", "cat", `{"predictions":{}}`)
	if err := testkit.CheckProblemCode(late, 409, "event_locked"); err != nil {
		t.Error(err)
	}

	w.EnterResults(pickemtest.Show, 0, 1, item.Void)
	w.Score(pickemtest.Show)

	standings := func() (all []string) {
		for _, s := range w.Standings("2026") {
			all = append(all, fmt.Sprint(s.Rank, " ", s.Name, " ", s.Points, " ", s.Correct, " ", s.Played))
		}

		return all
	}
	if got, want := standings(), []string{"1 bob 30 2 1", "2 ann 10 1 1"}; !slices.Equal(got, want) {
		t.Errorf("the standings (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.EnterResults(pickemtest.Show, 0, 0, 0)
	w.ScoreQueued()

	if got, want := standings(), []string{"1 ann 60 3 1", "2 bob 10 1 1"}; !slices.Equal(got, want) {
		t.Errorf("the standings after the correction (-want +got):\n%s", cmp.Diff(want, got))
	}
}
