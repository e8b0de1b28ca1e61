package pickem

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// asked plays events, each of two matches, until their points are asked for. Ann
// has the first match of each right, and is in a league; bob has the second.
func (w *world) asked(slugs ...string) (eventIDs []string) {
	return w.askedOf([]string{"ann", "bob"}, slugs...)
}

// askedOf is asked, of some of the members.
func (w *world) askedOf(members []string, slugs ...string) (eventIDs []string) {
	w.T.Helper()
	w.join("ann", "bob")
	testkit.Put(w.World, table, membership{
		row:      row{PK: ofUser("ann"), SK: ofLeague("one"), GSIPK: ofLeague("one"), GSISK: memberIn("ann"), Type: membershipType},
		LeagueID: "one", BelongsTo: ofUser("ann"), Name: "ann",
	})
	for _, slug := range slugs {
		id := w.announce(noon.AddDate(0, 0, 7), slug, 2)
		for _, m := range members {
			team := slices.Index([]string{"ann", "bob"}, m)
			w.pick(m, id, team, team)
		}
		eventIDs = append(eventIDs, id)
	}
	for _, id := range eventIDs {
		w.lock(id)
		w.results(id, 0, 1)
		w.admin(RequestScoreFunction, "/admin/events/"+id+"/score", "")
	}
	return eventIDs
}

// totals are the standings, in the league too.
func (w *world) totals() (all []string) {
	for _, s := range testkit.Rows[standing](w.World, table) {
		if s.Type == standingType {
			all = append(all, fmt.Sprintf("%s %s: %d points, %d right, %d played", s.SK, s.Name, s.Points, s.Correct, s.Played))
		}
	}
	slices.Sort(all)
	return all
}

// TestTwoEventsAtOnce scores an event before each call that scoring another makes:
// each member has the points of both.
func TestTwoEventsAtOnce(t *testing.T) {
	t.Parallel()
	again := 0
	for at, undisturbed := 1, 2; at <= undisturbed; at++ {
		w := newWorld(t)
		ids := w.asked("clash-of-tides", "dawn-of-tides")
		env, wire := w.wired(ScoreEventFunction, at, func() {
			if err := testkit.Open(w.World, ScoreEventFunction, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{ids[1]}); err != nil {
				t.Error(err)
			}
		}, func(write) {})
		if err := testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{ids[0]}); err != nil {
			t.Fatal(err)
		}
		if at == 1 {
			undisturbed = wire.calls
		} else if wire.calls > undisturbed {
			again++
		}
		want := []string{
			"STANDINGS#2026 ann: 20 points, 2 right, 2 played", "STANDINGS#2026 bob: 40 points, 2 right, 2 played",
			"STANDINGS#2026#one ann: 20 points, 2 right, 2 played",
		}
		if got := w.totals(); !slices.Equal(got, want) {
			t.Errorf("before call %d: the standings are %q, want %q", at, got, want)
		}
	}
	if again == 0 {
		t.Error("neither came in the other's way")
	}
}

// TestOvertaken corrects a result and scores it before each call that a scoring of
// the result before makes, which then goes on, or dies at any of its calls. Nobody
// is left with older points than those that the correction brought.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	const calls = 6 // of a scoring of one member, which makes them one after the other
	for at := 1; at <= calls; at++ {
		for crash := at; crash <= calls+1; crash++ {
			t.Run(fmt.Sprintf("before call %d, and dead at %d", at, crash), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				id := w.askedOf([]string{"ann"}, "clash-of-tides")[0]
				want := []string{"STANDINGS#2026 ann: 30 points, 2 right, 1 played", "STANDINGS#2026#one ann: 30 points, 2 right, 1 played"}
				old, wire := w.wired(ScoreEventFunction, at, func() {
					w.results(id, 0, 0)
					if err := testkit.Open(w.World, ScoreEventFunction, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{id}); err != nil {
						t.Error(err)
					}
					if got := w.totals(); !slices.Equal(got, want) {
						t.Errorf("corrected, the standings are %q, want %q", got, want)
					}
				}, func(write) {})
				if crash <= calls {
					old.AWS = dynamotest.CrashAt(crash, crash == at).AWS(old.AWS) // the call was made
				}
				err := testkit.OpenWith(w.World, old, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{id})
				if crash > calls && err != nil || err != nil && !errors.Is(err, dynamotest.ErrCrashed) {
					t.Errorf("the old one ends with %v", err)
				}
				if wire.calls < at {
					t.Errorf("the old one made %d calls", wire.calls)
				}
				if got := w.totals(); !slices.Equal(got, want) {
					t.Errorf("the standings are %q, want %q", got, want)
				}
				if e := testkit.Row[event](w.World, table, eventKey, ofEvent(id)); e.State != scored || e.ScoredRev != e.ResultsRev {
					t.Errorf("the event is %+v", e)
				}
			})
		}
	}
}
