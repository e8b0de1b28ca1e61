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
)

// Planner decides whether the next minute needs ticks.
type Planner struct {
	db  dynamo.DB
	now func() time.Time
}

// PlanTicks names the minute that was scheduled: RFC 3339.
type PlanTicks struct {
	ScheduledTime time.Time `json:"scheduledTime"`
}

// Plan is the input of the state machine: the ticks to run if Live, otherwise
// nothing.
type Plan struct {
	Live  bool   `json:"live"`
	Ticks []Tick `json:"ticks"`
}

// Tick is one slot. At is the second of Due, for a Wait state, which knows no
// fractions; the tick waits for the rest.
type Tick struct {
	Slot int64  `json:"slot"`
	Due  int64  `json:"due"` // epoch ms
	At   string `json:"at"`  // RFC 3339
}

const (
	planLead = time.Minute // Scheduler starts an execution anywhere inside its minute
	planEnd  = 2 * time.Minute
	// delayedStart is how long after its scheduled start a match that has not begun
	// keeps the loop running.
	delayedStart = 12 * time.Hour
	// longestMatch is how long a match can last that has begun and is not in the
	// feed: a Test between two days, or a match that the provider has lost.
	longestMatch = 6 * 24 * time.Hour
)

// PlanTicks returns the 24 slots of the minute that begins 60 s after the
// scheduled one, if a match is live or due before that minute ends. It only
// reads, so a second run returns the same.
func (p *Planner) PlanTicks(ctx context.Context, in PlanTicks) (Plan, error) {
	if in.ScheduledTime.IsZero() {
		return Plan{}, problem.In("scheduledTime", "the scheduled time is missing")
	}
	minute := in.ScheduledTime.Truncate(time.Minute)
	needed, err := p.needed(ctx, minute.Add(planEnd))
	if err != nil || !needed {
		return Plan{Ticks: []Tick{}}, err
	}
	plan := Plan{Live: true}
	for due := minute.Add(planLead); due.Before(minute.Add(planEnd)); due = due.Add(match.SlotLength) {
		plan.Ticks = append(plan.Ticks, Tick{Slot: match.SlotOf(due), Due: due.UnixMilli(), At: due.UTC().Truncate(time.Second).Format(time.RFC3339)})
	}
	return plan, nil
}

func (p *Planner) needed(ctx context.Context, until time.Time) (bool, error) {
	playing, _, err := dynamo.Scan[match.Fixture](ctx, p.db, tables.ScanLive, nil, nil, 1)
	if err != nil || len(playing) > 0 {
		return len(playing) > 0, err
	}
	active, err := catalog.ActiveLeagues(ctx, p.db)
	if err != nil {
		return false, err
	}
	for _, l := range active {
		due, err := match.Due(ctx, p.db, l.Code, until.Add(-longestMatch), until)
		if err != nil {
			return false, err
		}
		for _, f := range due {
			waiting := f.Phase() == sportmonks.Upcoming
			if !f.Phase().Over() && (!waiting || f.Start().After(until.Add(-delayedStart))) {
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
