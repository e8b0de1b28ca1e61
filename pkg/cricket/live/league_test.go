package live_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// setActive stores whether the league of the tests' matches is active.
func setActive(w *crickettest.World, active bool) {
	testkit.PutRows(w.World, tables.Leagues,
		catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: active})
}

// slots returns the number of slots in d.
func slots(d time.Duration) int { return int(d / match.SlotLength) }

// TestInactiveLeagueCostsNoCalls: the matches of an inactive league are skipped before any
// call, those of another league in the same feed are not. When the league is active again,
// they are ingested.
func TestInactiveLeagueCostsNoCalls(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	setActive(w, false)
	hidden, other := w.AddFixture("7"), w.AddFixture("8")
	other.LeagueID = "4"
	testkit.PutRows(w.World, tables.Fixtures, other)
	w.SetPayload(crickettest.Payload(hidden, "1st Innings", crickettest.Ball{ID: 1}),
		crickettest.Payload(other, "1st Innings", crickettest.Ball{ID: 2}))
	before := w.Outcome()
	tk := w.Ticker()
	w.TickAt(tk, 0)

	want := map[string]int{"UpdateItem": 2, "Scan": 1} // the claim and the other match
	if got := w.CountCalls(func() { w.TickAt(tk, 1) }); !maps.Equal(got, want) {
		t.Errorf("a tick makes the calls %v, want %v", got, want)
	}

	if diff := cmp.Diff(before.Fixtures["7"], w.Outcome().Fixtures["7"]); diff != "" {
		t.Errorf("the match has changed (-before +after):\n%s", diff)
	}

	if f := w.Outcome().Fixtures["8"]; f.Live != match.Live {
		t.Errorf("the match of another league is %+v, want it live", f)
	}

	setActive(w, true)
	w.TickAt(tk, slots(time.Minute))

	if f := w.Outcome().Fixtures["7"]; f.Live != match.Live {
		t.Errorf("a minute after its league became active the match is %+v, want it live", f)
	}
}

// TestMatchOfADeactivatedLeagueEndsQuietly: a live match whose league becomes inactive
// leaves the plan at once. Its lock screens end when the provider's page reports the end.
func TestMatchOfADeactivatedLeagueEndsQuietly(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	setActive(w, true)
	f := w.AddFixture("7")
	page := pageOf("1st Innings")
	feed := crickettest.Feed(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
	w.Override = func(path string) (int, string) {
		if path == "/livescores" {
			return http.StatusOK, feed
		}

		return http.StatusOK, page
	}
	tk := w.Ticker()
	w.TickAt(tk, 0)
	setActive(w, false)

	n := slots(time.Minute)
	w.TickAt(tk, n)

	row := w.Outcome().Fixtures["7"]
	if row.Live != "" || row.ArchivedAt == 0 || row.EndingAt != 0 {
		t.Errorf("the match is %+v, want it archived and not ended", row)
	}

	finisher := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	testkit.Drain(w.World, tables.FinishQueue, 2*time.Minute, finisher.FinishMatch)

	planner := testkit.Open(w.World, live.PlanTicksFunction(), live.OpenPlanner)
	if plan, err := planner.PlanTicks(w.NewContext(), live.PlanTicks{ScheduledTime: w.Clock.Now()}); err != nil || plan.Live {
		t.Errorf("the plan is %+v, %v; want no ticks", plan, err)
	}

	page = pageOf("Finished", tied)

	testkit.Drain(w.World, tables.FinishQueue, live.SettleAfter+live.KeepFollows+10*time.Minute, finisher.FinishMatch)

	ended := 0

	testkit.Drain(w.World, tables.ActivityQueue, 0, func(_ context.Context, m activity.MatchChanged) error {
		if m.Ended != 0 {
			ended++
		}

		return nil
	})

	if row := w.Outcome().Fixtures["7"]; row.FinishedAt == 0 || ended != 1 {
		t.Errorf("the match is %+v and its activities were ended %d times, want it finished and 1", row, ended)
	}
}
