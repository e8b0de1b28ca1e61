package replay

import (
	"context"
	"net/http"
	"time"
)

// The hour in which a bogus activity is at Strava.
const (
	bogusLooks = 30 * time.Minute // after its upload
	bogusLasts = 35 * time.Minute
)

// boast has an athlete bring an activity to Strava that would earn all parts.
func (r *run) boast(_ context.Context, a *athlete) {
	if !a.connected || r.cfg.Settling == 0 {
		return
	}

	now := r.Clock.Now()
	x := &activity{data: data{
		name: "By car", sport: a.sports[0], start: now.Add(-10 * time.Hour), offset: a.offset,
		metres: 900_000, climb: 9_000, moving: 9 * time.Hour, elapsed: 9 * time.Hour,
	}}

	r.strava.SetReliable(true)
	x.id = r.strava.Upload(a.id, x.shown())
	r.strava.SetReliable(false)

	a.bogus = append(a.bogus, x)
	a.boasts = x
}

// checkBoast checks that the activity has minted nothing.
func (r *run) checkBoast(ctx context.Context, a *athlete) {
	if a.boasts == nil {
		return
	}

	for _, m := range a.milestones {
		var is progress
		if r.ask(ctx, a, http.MethodGet, "/milestones/"+m.id, nil, &is, "", "") {
			equal(r, a, "the state of "+m.String()+" with a bogus activity", is.State, m.state(r.Clock.Now()))
			equal(r, a, "the parts of "+m.String()+" with a bogus activity", len(is.Awards), len(m.reached))
		}

		if m.state(r.Clock.Now()) == active && m.source == atStrava && len(a.against(m.goal, a.boasts)) == 0 {
			streak := m.target == streakDays || m.target == streakWeeks
			equal(r, a, "the progress of "+m.String()+" has a bogus activity", streak || is.RawProgress > m.raw || r.Trial != nil, true)
		}
	}
}

// against returns why an activity does not count, whatever the others are.
func (a *athlete) against(g goal, x *activity) []string {
	return g.against(x.data, a.hidden(x), a.counts)
}

// retract deletes the activity.
func (r *run) retract(_ context.Context, a *athlete) {
	x := a.boasts
	if a.boasts = nil; x == nil {
		return
	}

	r.strava.SetReliable(true)
	r.strava.Delete(x.id)
	r.strava.SetReliable(false)

	a.did["bogus"]++
}
