package pickem_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// TestStandings runs random requests and jobs, some of them concurrent or crashing. When
// no work is pending, the standings equal those that the oracle derives from the cards,
// the results and the picks.
func TestStandings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(rapidTB{t, rt})
		rt.Repeat(map[string]func(*rapid.T){
			"something happens": func(rt *rapid.T) {
				a := g.drawOperation(rt)
				g.failOn(rt, a.what, g.perform(a, g.drawInterruption(rt, a)))
			},
			"": func(rt *rapid.T) { g.failOn(rt, "check of the rows", g.checkRows()) },
		})
		g.failOn(rt, "at the end", g.settle())
	})
}

// expectedStandings is the oracle: it returns the ranked standings of members after events.
func (g *game) expectedStandings(members []string, events []*modelEvent) (rows []league.Standing) {
	for _, u := range members {
		row := league.Standing{UserID: u, Name: g.names[u]}
		for _, e := range events {
			if picks, plays := e.picks[u]; plays {
				points, right := e.pointsOf(picks)
				row.Points, row.Correct, row.Played = row.Points+points, row.Correct+right, row.Played+1
			}
		}

		if row.Played > 0 {
			rows = append(rows, row)
		}
	}

	slices.SortFunc(rows, func(a, b league.Standing) int {
		return cmp.Or(b.Points-a.Points, b.Correct-a.Correct, a.Played-b.Played, cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			cmp.Compare(a.UserID, b.UserID))
	})

	better := map[[3]int]bool{}
	for i, r := range rows {
		better[[3]int{r.Points, r.Correct, r.Played}] = true
		rows[i].Rank = len(better)
	}

	return rows
}

// pointsOf returns the points of picks, and the number of right ones.
func (e *modelEvent) pointsOf(picks map[string]string) (points, right int) {
	counted := 0

	for _, m := range e.card {
		if *m.result == item.Void {
			continue
		}

		counted++

		if team, picked := picks[m.id]; picked && m.place(team) == *m.result {
			points, right = points+m.points, right+1
		}
	}

	if counted > 0 && right == counted {
		points += e.bonus
	}

	return points, right
}

// checkScreens returns an error if the screens of an event or of another member are
// wrong, or show picks of others before the event is scored.
func (g *game) checkScreens(u, other string, e *modelEvent) error {
	got := g.Ask(event.GetEventFunction(), "/app/events/"+e.id, u, "")

	results := g.Ask(event.GetResultsFunction(), "/app/events/"+e.id+"/results", u, "")
	if e.state == item.Deleting {
		return errors.Join(testkit.CheckProblemCode(got, 404, "event_not_found"), testkit.CheckProblemCode(results, 404, "event_not_found"))
	}

	screen := testkit.Decode[struct {
		State      string
		Prediction *event.Prediction
	}](g.World, got)

	picks, plays := e.picks[u]
	switch {
	case plays != (screen.Prediction != nil) || plays && !maps.Equal(picks, screen.Prediction.Predictions):
		return fmt.Errorf("the screen of %s does not show the picks %v: %s", u, picks, got.Body)
	case (screen.State == item.Upcoming) != e.isOpen(g.Clock.Now()) || (screen.State == item.Scored) != (e.state == item.Scored):
		return fmt.Errorf("%s sees event %s in state %s; it is %s and locks at %v", u, e.id, screen.State, e.state, e.lockAt)
	}

	for _, o := range g.users {
		if o != u && strings.Contains(got.Body, o) {
			return fmt.Errorf("the screen of %s shows %s: %s", u, o, got.Body)
		}
	}

	if e.state != item.Scored {
		if err := testkit.CheckProblemCode(results, 409, "event_not_scored"); err != nil || strings.Contains(results.Body, "u-") {
			return fmt.Errorf("results of an event in state %s: %w", e.state, cmp.Or(err, errors.New(results.Body)))
		}
	}

	page := g.Ask(member.GetUserFunction(), "/app/users/"+other, u, "")
	if page.StatusCode != http.StatusOK || strings.Contains(page.Body, "predictions") || strings.Contains(page.Body, "00000000-0000") ||
		!e.asked && strings.Contains(page.Body, e.id) {
		return fmt.Errorf("%s got the screen of %s with status %d: %s", u, other, page.StatusCode, page.Body)
	}

	return nil
}

// checkRows returns an error unless every member's standings are the sum of the member's
// scored predictions, which holds at any time.
func (g *game) checkRows() error {
	if !g.written {
		return nil
	}

	g.written = false

	type sum struct{ Points, Correct, Played int }

	sums, have := map[string]sum{}, map[string]sum{}

	for _, i := range testkit.Rows[item.Any](g.World, tables.Pickem) {
		switch is := i.Value.(type) {
		case *item.Prediction:
			if is.GSISK != fmt.Sprintf("SCORE#%03d#%s", is.Points, is.UserID()) {
				return fmt.Errorf("%d points of an event have the sort key %s", is.Points, is.GSISK)
			}

			if is.ScoredAt == "" {
				continue
			}

			key := is.UserID() + " in " + is.EventID[:4]
			s := sums[key]
			sums[key] = sum{s.Points + is.Points, s.Correct + is.Correct, s.Played + 1}
		case *item.Standing:
			if is.GSISK != fmt.Sprintf("SCORE#%05d#%s", is.Points, is.UserID()) {
				return fmt.Errorf("%d points of a year have the sort key %s", is.Points, is.GSISK)
			}

			have[is.UserID()+" in "+is.Year()] = sum{is.Points, is.Correct, is.Played}
		}
	}

	if diff := gocmp.Diff(sums, have); diff != "" {
		return fmt.Errorf("standings (-sum of the scored predictions +got):\n%s", diff)
	}

	return nil
}

// settle completes all pending work and checks scores, standings and screens.
func (g *game) settle() error {
	err := g.drain()
	if g.depth == 0 && !g.crashed { // after a crash LockEvents must complete the work first
		for _, e := range g.events {
			err = errors.Join(err, g.checkScores(e))
		}
	}

	g.crashed = g.crashed && g.depth > 0

	if err != nil {
		return err
	}

	g.MoveClock(g.Clock.Now().Add(3 * time.Minute))

	if err := errors.Join(g.perform(g.lockEvents(nil), interruption{}), g.drain()); err != nil {
		return err
	}

	var done []*modelEvent

	for _, e := range g.events {
		if e.state != item.Deleting && e.asked {
			done = append(done, e)
		}

		if err := errors.Join(g.checkScreens(g.users[0], g.users[1], e), g.checkScores(e)); err != nil {
			return err
		}
	}

	for _, year := range []string{"2026", "2027"} {
		played := slices.DeleteFunc(slices.Clone(done), func(e *modelEvent) bool { return e.year() != year })
		if err := g.checkStandings("the standings of "+year, g.StandingsFor(g.users[0], year), g.users, played); err != nil {
			return err
		}

		for id, members := range g.leagues {
			out := g.Ask(league.GetLeagueStandingsFunction(), "/app/leagues/"+id+"/standings/"+year, members[0], "")

			shown := testkit.Decode[struct{ Standings []league.Standing }](g.World, out).Standings
			if err := g.checkStandings("the standings of league "+id+" in "+year, shown, members, played); err != nil {
				return err
			}
		}
	}

	return nil
}

// checkScores compares the scores of an event with the oracle's. A deleted event must have
// no items.
func (g *game) checkScores(e *modelEvent) error {
	if e.state == item.Deleting {
		if left, err := item.Query(g.NewContext(), g.DB(), tables.GetCard,
			dynamo.Range{Key: dynamo.KeyIs(tables.GetCard, item.EventRef(e.id))}); err != nil || len(left.Card)+len(left.Predictions) > 0 {
			return fmt.Errorf("the deleted event still has %v (error: %v)", left, err)
		}
	}

	if e.state == item.Deleting || !e.asked {
		return nil
	}

	screen := testkit.Decode[struct {
		event.Event
		Count   int
		Entries []score.Entry
	}](g.World, g.Ask(event.GetResultsFunction(), "/app/events/"+e.id+"/results", g.users[0], ""))
	if screen.State != item.Scored || screen.Updating {
		return fmt.Errorf("%s is not scored by the latest results", e.id)
	}

	var got []league.Standing

	for _, en := range screen.Entries {
		points := 0
		for _, p := range en.Picks {
			points += p.Points
		}

		if points+en.Bonus != en.Points {
			return fmt.Errorf("%s has %d points in %s, but the sheet %+v", en.UserID, en.Points, e.id, en.Sheet)
		}

		got = append(got, league.Standing{Rank: en.Rank, UserID: en.UserID, Name: en.Name, Points: en.Points, Correct: en.Correct, Played: 1})
	}

	return diffStandings("the scores of "+e.id, got, g.expectedStandings(g.users, []*modelEvent{e}))
}

// checkStandings compares the standings of members with the oracle's. The movement is
// the change of rank from the table without the last event.
func (g *game) checkStandings(what string, got []league.Standing, members []string, events []*modelEvent) error {
	want, last := g.expectedStandings(members, events), ""
	for _, e := range events {
		for u := range e.picks {
			if slices.Contains(members, u) {
				last = max(last, e.id)
			}
		}
	}

	before := map[string]int{}
	for _, r := range g.expectedStandings(members, slices.DeleteFunc(slices.Clone(events), func(e *modelEvent) bool { return e.id == last })) {
		before[r.UserID] = r.Rank
	}

	for i, r := range want {
		if rank, was := before[r.UserID]; was {
			up := rank - r.Rank
			want[i].Movement = &up
		}
	}

	return diffStandings(what, got, want)
}

// diffStandings returns an error with the difference of two tables.
func diffStandings(what string, got, want []league.Standing) error {
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", what, diff)
	}

	return nil
}
