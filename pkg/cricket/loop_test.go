package cricket

import (
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/problem"
)

func TestPlanTicks(t *testing.T) {
	t.Parallel()
	minute := kickOff // the execution that is scheduled for it plans the minute after
	in := func(d time.Duration) string { return minute.Add(d).Format(timeLayout) }
	for name, c := range map[string]struct {
		match fixture
		idle  bool // the league is not active
		want  bool
	}{
		"no match":                          {fixture{StartTime: in(time.Hour), Status: "NS"}, false, false},
		"due in the planned minute":         {fixture{StartTime: in(planEnd), Status: "NS"}, false, true},
		"due just after it":                 {fixture{StartTime: in(planEnd + time.Second), Status: "NS"}, false, false},
		"due in a league that is not ours":  {fixture{StartTime: in(0), Status: "NS"}, true, false},
		"live":                              {fixture{StartTime: in(-time.Hour), Status: "1st Innings", Live: live, LiveUpdatedAt: 1}, false, true},
		"live in a league that is not ours": {fixture{StartTime: in(-time.Hour), Status: "1st Innings", Live: live, LiveUpdatedAt: 1}, true, true},
		"delayed for hours":                 {fixture{StartTime: in(-11 * time.Hour), Status: "Delayed"}, false, true},
		"delayed for a day":                 {fixture{StartTime: in(-24 * time.Hour), Status: "Delayed"}, false, false},
		"postponed":                         {fixture{StartTime: in(-13 * time.Hour), Status: "Postp."}, false, false},
		"stumps overnight":                  {fixture{StartTime: in(-30 * time.Hour), Status: "Stump Day 1", Type: "Test/5day"}, false, true},
		"begun, and lost for a week":        {fixture{StartTime: in(-7 * 24 * time.Hour), Status: "1st Innings"}, false, false},
		"of a status nobody knows":          {fixture{StartTime: in(-time.Hour), Status: "Review"}, false, true},
		"archived":                          {fixture{StartTime: in(-time.Hour), Status: "2nd Innings", ArchivedAt: 1}, false, false},
		"finished":                          {fixture{StartTime: in(-time.Hour), Status: "Finished", ArchivedAt: 1, EndingAt: 1, FinishedAt: 1}, false, false},
		"finished, never polled":            {fixture{StartTime: in(-time.Hour), Status: "Finished"}, false, false},
		"abandoned, never polled":           {fixture{StartTime: in(-time.Hour), Status: "Aban."}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.match.MatchID, c.match.LeagueCode, c.match.LeagueID = "7", "T20", "3"
			testkit.Put(w.World, fixtures, c.match)
			testkit.Put(w.World, leagues, league{LeagueID: "3", Code: "T20", Active: !c.idle}, league{LeagueID: "4", Code: "ODI", Active: true})
			p := testkit.Open(w.World, PlanTicksFunction, OpenPlanner)
			for range 2 {
				got, err := p.PlanTicks(w.Ctx(), PlanTicks{minute.Add(17 * time.Second)})
				testkit.Must(t, err)
				if got.Live != c.want || len(got.Ticks) != map[bool]int{true: 24}[c.want] || got.Ticks == nil {
					t.Errorf("live is %v with %d ticks, want %v", got.Live, len(got.Ticks), c.want)
				}
			}
		})
	}
}

func TestPlannedTicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.Put(w.World, fixtures, fixture{MatchID: "7", LeagueCode: "T20", StartTime: "2026-06-01T12:00:00Z", Live: live})
	p := testkit.Open(w.World, PlanTicksFunction, OpenPlanner)
	plan, err := p.PlanTicks(w.Ctx(), PlanTicks{kickOff})
	testkit.Must(t, err)
	next, err := p.PlanTicks(w.Ctx(), PlanTicks{kickOff.Add(time.Minute)})
	testkit.Must(t, err)
	all := append(plan.Ticks, next.Ticks...)
	if len(all) != 48 {
		t.Fatalf("%d ticks in two minutes, want 48", len(all))
	}
	for i, tick := range all {
		due := kickOff.Add(planLead + time.Duration(i)*slotLength)
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

func TestPlanTicksWithoutTime(t *testing.T) {
	t.Parallel()
	p := testkit.Open(newWorld(t).World, PlanTicksFunction, OpenPlanner)
	if _, err := p.PlanTicks(t.Context(), PlanTicks{}); problem.Of(err) != problem.Invalid {
		t.Errorf("a plan for no time gives %v, want an Invalid fault", err)
	}
}
