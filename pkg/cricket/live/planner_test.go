package live_test

import (
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/problem"
)

func TestTicksArePlannedForLiveAndDueMatches(t *testing.T) {
	t.Parallel()

	minute := crickettest.KickOff // its execution plans the minute after

	in := func(d time.Duration) string { return minute.Add(d).Format(tables.TimeLayout) }
	for name, c := range map[string]struct {
		match match.Fixture
		idle  bool // the league is not active
		want  bool
	}{
		"no match":                         {match.Fixture{StartTime: in(time.Hour), Status: "NS"}, false, false},
		"due in the planned minute":        {match.Fixture{StartTime: in(live.PlanEnd), Status: "NS"}, false, true},
		"due just after it":                {match.Fixture{StartTime: in(live.PlanEnd + time.Second), Status: "NS"}, false, false},
		"due in a league that is not ours": {match.Fixture{StartTime: in(0), Status: "NS"}, true, false},
		"live": {
			match.Fixture{StartTime: in(-time.Hour), Status: "1st Innings", Live: match.Live, LiveUpdatedAt: 1},
			false,
			true,
		},
		"live in a league that is not ours": {
			match.Fixture{StartTime: in(-time.Hour), Status: "1st Innings", Live: match.Live, LiveUpdatedAt: 1},
			true,
			true,
		},
		"delayed for hours":          {match.Fixture{StartTime: in(-11 * time.Hour), Status: "Delayed"}, false, true},
		"delayed for a day":          {match.Fixture{StartTime: in(-24 * time.Hour), Status: "Delayed"}, false, false},
		"postponed":                  {match.Fixture{StartTime: in(-13 * time.Hour), Status: "Postp."}, false, false},
		"stumps overnight":           {match.Fixture{StartTime: in(-30 * time.Hour), Status: "Stump Day 1", Type: "Test/5day"}, false, true},
		"begun, and lost for a week": {match.Fixture{StartTime: in(-7 * 24 * time.Hour), Status: "1st Innings"}, false, false},
		"with an unknown status":     {match.Fixture{StartTime: in(-time.Hour), Status: "Review"}, false, true},
		"archived":                   {match.Fixture{StartTime: in(-time.Hour), Status: "2nd Innings", ArchivedAt: 1}, false, false},
		"finished": {
			match.Fixture{StartTime: in(-time.Hour), Status: "Finished", ArchivedAt: 1, EndingAt: 1, FinishedAt: 1},
			false,
			false,
		},
		"finished, never polled":  {match.Fixture{StartTime: in(-time.Hour), Status: "Finished"}, false, false},
		"abandoned, never polled": {match.Fixture{StartTime: in(-time.Hour), Status: "Aban."}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			c.match.MatchID, c.match.LeagueCode, c.match.LeagueID = "7", "T20", "3"
			testkit.PutRows(w.World, tables.Fixtures, c.match)
			testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: !c.idle},
				catalog.ProvidedLeague{LeagueID: "4", Code: "ODI", Active: true})

			p := testkit.Open(w.World, live.PlanTicksFunction(), live.OpenPlanner)
			for range 2 {
				got, err := p.PlanTicks(w.NewContext(), live.PlanTicks{ScheduledTime: minute.Add(17 * time.Second)})
				testkit.Must(t, err)

				if got.Live != c.want || len(got.Ticks) != map[bool]int{true: 24}[c.want] || got.Ticks == nil {
					t.Errorf("live is %v with %d ticks, want %v", got.Live, len(got.Ticks), c.want)
				}
			}
		})
	}
}

func TestPlannedTicksAreConsecutiveSlots(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Fixtures,
		match.Fixture{MatchID: "7", LeagueCode: "T20", StartTime: "2026-06-01T12:00:00Z", Live: match.Live})
	p := testkit.Open(w.World, live.PlanTicksFunction(), live.OpenPlanner)
	plan, err := p.PlanTicks(w.NewContext(), live.PlanTicks{ScheduledTime: crickettest.KickOff})
	testkit.Must(t, err)
	next, err := p.PlanTicks(w.NewContext(), live.PlanTicks{ScheduledTime: crickettest.KickOff.Add(time.Minute)})
	testkit.Must(t, err)

	all := append(plan.Ticks, next.Ticks...)
	if len(all) != 48 {
		t.Fatalf("%d ticks in two minutes, want 48", len(all))
	}

	for i, tick := range all {
		due := crickettest.KickOff.Add(live.PlanLead + time.Duration(i)*match.SlotLength)
		switch {
		case tick.Due != due.UnixMilli():
			t.Errorf("tick %d is due at %d, want %d", i, tick.Due, due.UnixMilli())
		case tick.Slot != tick.Due/2500:
			t.Errorf("tick %d has slot %d", i, tick.Slot)
		case tick.At != due.Truncate(time.Second).Format("2006-01-02T15:04:05Z"):
			t.Errorf("tick %d waits until %s", i, tick.At)
		}
	}
}

func TestPlanWithoutTimeIsInvalid(t *testing.T) {
	t.Parallel()

	p := testkit.Open(crickettest.New(t).World, live.PlanTicksFunction(), live.OpenPlanner)
	if _, err := p.PlanTicks(t.Context(), live.PlanTicks{}); problem.Of(err) != problem.Invalid {
		t.Errorf("a plan without a time returns %v, want an Invalid problem", err)
	}
}

// TestPlanReportsFailedReads: a minute is planned without ticks only if all reads succeed.
func TestPlanReportsFailedReads(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true},
		catalog.ProvidedLeague{LeagueID: "4", Code: "ODI", Active: true})
	p := testkit.Open(w.World, live.PlanTicksFunction(), live.OpenPlanner)
	dynamotest.CheckFailures(t, &w.IO, func() error {
		_, err := p.PlanTicks(w.NewContext(), live.PlanTicks{ScheduledTime: crickettest.KickOff})
		return err
	})
}
