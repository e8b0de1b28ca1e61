package score_test

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/score"
)

// TestEventsOfAYearAreScoredTogether: the scorings of several events of a year all succeed,
// at last by the queue's next tries, and the ranking has the points of all.
func TestEventsOfAYearAreScoredTogether(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")

	const events = 8

	var ids []string

	for n := range events {
		id := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, n+1), fmt.Sprint("show-", n), 1)
		w.Pick("ann", id, 0)
		ids = append(ids, id)
	}

	for _, id := range ids {
		w.LockEvent(id)
		w.EnterResults(id, 0)
		w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(id)+"/score", "")
	}

	var g errgroup.Group
	for _, id := range ids {
		g.Go(func() error {
			s := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)
			for {
				if err := s.ScoreEvent(w.NewContext(), score.Request{EventID: id}); problem.Of(err) != problem.Unavailable {
					return err
				}
			}
		})
	}

	testkit.Must(t, g.Wait())

	var table league.StandingsScreen
	w.Read(league.GetStandingsFunction(), "/app/standings/2026", "ann", &table.Body)

	if s := table.Body.Standings; len(s) == 0 || s[0].UserID != "ann" || s[0].Played != events {
		t.Errorf("the standings are %+v, want ann with %d events first", s, events)
	}
}
