package replay

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// outage is a time in which Strava answers no call. Athletes train, and webhooks come; what they have earned
// is known after it.
type outage struct{ from, to time.Time }

// recovery is how long after an outage the app knows everything: the next sync finds out that Strava answers,
// and the one after it fetches what was given up.
const recovery = rest

// inactive returns the outage of an application without its owner's subscription: two weeks, less in a short
// world.
func (w *world) inactive() outage {
	year := w.end.Sub(start)
	from := start.Add(year * 33 / 100).Truncate(day).Add(10 * time.Hour)

	return outage{from, from.Add(min(14*day, year/10))}
}

// moves is when Strava's API moves. The operator changes the settings some hours later.
var moves = outage{time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 6, 1, 9, 0, 0, 0, time.UTC)}

// outages returns those of the year.
func (w *world) outages() []outage { return []outage{w.inactive(), moves} }

// calm returns the first time at or after another from which so long there is no outage, nor the time that
// the app needs before and after one to know everything.
func (w *world) calm(at time.Time, length time.Duration) time.Time {
	for _, o := range w.outages() {
		if at.Add(length).After(o.from.Add(-rest)) && at.Before(o.to.Add(recovery)) {
			at = o.to.Add(recovery)
		}
	}

	return at
}

// isCalm reports whether a time is in no outage, nor near one.
func (w *world) isCalm(at time.Time) bool { return w.calm(at, 0).Equal(at) }

// deadline returns until when what was earned at a time must be minted.
func (r *run) deadline(earned time.Time) time.Time {
	until := earned.Add(found + r.cfg.Settling)

	for _, o := range r.outages() {
		if earned.Before(o.to) && until.After(o.from) {
			until = o.to.Add(found + r.cfg.Settling)
		}
	}

	return until
}

// interrupt plans the outages.
func (r *run) interrupt() (all []step) {
	o := r.inactive()
	for at := o.from.Add(day); at.Before(o.to); at = at.Add(3 * day) {
		all = append(all, step{at, r.checkInactive})
	}

	return append(all,
		step{o.from, func(context.Context) { r.strava.SetInactive(true) }},
		step{o.to, func(context.Context) { r.strava.SetInactive(false) }},
		step{moves.to, func(context.Context) { r.Fleet.Functions.Configure(r.cfg.Moved()...) }})
}

// checkInactive checks that nobody is disconnected while the application is inactive, and that everybody is told
// why workouts wait.
func (r *run) checkInactive(ctx context.Context) {
	for _, a := range r.present() {
		var is struct{ Connected, Broken, Unavailable bool }
		if r.ask(ctx, a, http.MethodGet, "/strava/status", nil, &is, "", "") && r.Trial == nil {
			equal(r, a, "the connection of an inactive application", fmt.Sprint(is.Connected, is.Broken, is.Unavailable),
				fmt.Sprint(a.connected, false, true))
		}
	}
}
