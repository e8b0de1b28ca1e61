package pickem

import (
	"fmt"
	"slices"
	"testing"

	"matchday/infra/testkit"
)

// TestSeason plays one event from its announcement to its corrected results.
func TestSeason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat")
	w.clash(3)
	w.pick("ann", show, 0, 0, 0)
	w.pick("bob", show, 0, 1, 1)
	w.lock(show)
	late := w.ask(PutPredictionsFunction, "/app/events/"+show+"/predictions", "cat", `{"predictions":{}}`)
	if err := testkit.Refuses(late, 409, "event_locked"); err != nil {
		t.Error(err)
	}
	w.results(show, 0, 1, void)
	w.score(show)
	said := func() (all []string) {
		for _, s := range w.standings("2026") {
			all = append(all, fmt.Sprint(s.Rank, " ", s.Name, " ", s.Points, " ", s.Correct, " ", s.Played))
		}
		return all
	}
	if got, want := said(), []string{"1 bob 30 2 1", "2 ann 10 1 1"}; !slices.Equal(got, want) {
		t.Errorf("the standings are %q, want %q", got, want)
	}
	w.results(show, 0, 0, 0)
	w.work()
	if got, want := said(), []string{"1 ann 60 3 1", "2 bob 10 1 1"}; !slices.Equal(got, want) {
		t.Errorf("corrected, the standings are %q, want %q", got, want)
	}
}
