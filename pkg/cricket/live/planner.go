package live

import (
	"context"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Planner decides whether the next minute needs ticks. It only reads.
type Planner struct {
	db  dynamo.DB
	now func() time.Time
}

// PlanTicks is the input of plan-ticks: the minute that it was scheduled for, as RFC
// 3339.
type PlanTicks struct {
	ScheduledTime time.Time `json:"scheduledTime"`
}

// Plan is the output of plan-ticks: the ticks that the state machine runs. Without
// Live there are none.
type Plan struct {
	Live  bool   `json:"live"`
	Ticks []Tick `json:"ticks"`
}

// Tick is one slot. At is Due without its milliseconds, which a Wait state cannot
// wait for; the Ticker does.
type Tick struct {
	Slot int64  `json:"slot"`
	Due  int64  `json:"due"` // epoch ms
	At   string `json:"at"`  // RFC 3339
}

const (
	// A plan is for the minute from planLead to planEnd after the scheduled one, because
	// Scheduler may start an execution at any time within its minute.
	planLead = time.Minute
	planEnd  = 2 * time.Minute
	// delayedStart is how long after its scheduled start a match that has not begun is
	// polled for.
	delayedStart = 12 * time.Hour
)

// PlanTicksFunction returns the ticks of the next minute, if it needs any.
func PlanTicksFunction() app.Function {
	return app.Task(spec.Function{
		Name:   "cricket/plan-ticks",
		Does:   "Returns the ticks of the next minute, or none if no match needs polling.",
		IfDown: "No tick runs in the next minute. Scores are updated late.",
		On:     spec.Task{}, Uses: []spec.Access{tables.ScanLive, tables.ActiveLeagues, tables.StartingSoon},
		Memory: 128, Timeout: tables.ReadTimeout,
	}, OpenPlanner, (*Planner).PlanTicks)
}

// PlanTicks returns the 24 slots of the minute that begins 60 s after the scheduled
// one, if a match is live or due to start before that minute ends. A second run
// returns the same. A missing time is an Invalid problem.
func (p *Planner) PlanTicks(ctx context.Context, in PlanTicks) (Plan, error) {
	if in.ScheduledTime.IsZero() {
		return Plan{}, problem.In("scheduledTime", "the scheduled time is missing: valid are RFC 3339 times")
	}

	minute := in.ScheduledTime.Truncate(time.Minute)

	needed, err := p.needed(ctx, minute.Add(planEnd))
	if err != nil || !needed {
		return Plan{Ticks: []Tick{}}, err
	}

	plan := Plan{Live: true}
	for due := minute.Add(planLead); due.Before(minute.Add(planEnd)); due = due.Add(match.SlotLength) {
		plan.Ticks = append(plan.Ticks, Tick{
			Slot: match.SlotOf(due),
			Due:  due.UnixMilli(),
			At:   due.UTC().Truncate(time.Second).Format(time.RFC3339),
		})
	}

	return plan, nil
}

// needed reports whether a match is live, or due before until.
func (p *Planner) needed(ctx context.Context, until time.Time) (bool, error) {
	live, _, err := dynamo.Scan[match.Fixture](ctx, p.db, tables.ScanLive, nil, nil, 1)
	if err != nil || len(live) > 0 {
		return len(live) > 0, err
	}

	active, err := catalog.ActiveLeagues(ctx, p.db)
	if err != nil {
		return false, err
	}

	for _, l := range active {
		due, err := match.Due(ctx, p.db, l.Code, until.Add(-match.MaxLasts), until)
		if err != nil {
			return false, err
		}

		for _, f := range due {
			// one that has begun and is not live is between two days, or the provider has lost it
			polledFor := f.Lasts()
			if f.Phase() == sportmonks.Upcoming {
				polledFor = delayedStart
			}

			if !f.Phase().Over() && f.Start().After(until.Add(-polledFor)) {
				return true, nil
			}
		}
	}

	return false, nil
}

// OpenPlanner opens the service of plan-ticks.
func OpenPlanner(_ context.Context, env app.Env) (*Planner, error) {
	return &Planner{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}
