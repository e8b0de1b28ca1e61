package strava

import (
	"errors"
	"time"
)

// Wait is the part of a message that waits for Strava. Messages without it have not waited yet.
type Wait struct {
	Waits int   `json:"waits,omitempty"`      // how often Strava was unavailable
	Since int64 `json:"waitsSince,omitempty"` // when the message waited first, epoch s
}

const (
	firstDelay = time.Minute
	// MaxDelay is the longest delay of a message: SQS allows no longer one.
	MaxDelay = 15 * time.Minute
)

// Cause returns the error for which a message waits: Strava cannot answer anybody now, or allows no
// more calls. It returns nil for an error that concerns the one call only.
func Cause(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != Unavailable && e.Kind != Limited && e.Kind != Inactive {
		return nil
	}

	return e
}

// Next returns the wait of a message that waits again, and for how long. Strava's limit ends with its
// window. Otherwise the delays are 1, 2, 4, 8 and then 15 minutes; 15 minutes for an inactive
// application. ok is false if the message has waited for most already.
func (w Wait) Next(cause *Error, now time.Time, most time.Duration) (next Wait, delay time.Duration, ok bool) {
	next = w
	if next.Since == 0 {
		next.Since = now.Unix()
	}

	switch cause.Kind {
	case Limited:
		delay = cause.RetryAfter
	case Inactive:
		delay = MaxDelay
	default:
		delay = min(firstDelay<<min(next.Waits, 4), MaxDelay)
		next.Waits++
	}

	return next, min(delay, MaxDelay), now.Sub(time.Unix(next.Since, 0)) < most
}
