package replay

import (
	"context"
	"time"
)

// outage is a time in which Strava answers no call. Athletes train, and webhooks come; what they have earned
// is known after it.
type outage struct{ from, to time.Time }

// recovery is how long after an outage the app knows everything: the next sync finds out that Strava answers,
// and the one after it fetches what was given up.
const recovery = rest

// moves is when the operator changes the settings, before Strava's API moves.
var moves = outage{time.Date(2027, 5, 31, 12, 0, 0, 0, time.UTC), time.Date(2027, 5, 31, 12, 0, 0, 0, time.UTC)}

// outages returns those of the year.
func (w *world) outages() []outage { return []outage{moves} }

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
func (r *run) interrupt() []step {
	return []step{{moves.to, func(context.Context) { r.Fleet.Functions.Configure(r.cfg.Moved()...) }}}
}
