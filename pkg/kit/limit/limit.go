// Package limit counts what a user does in a period, and refuses what exceeds a limit.
package limit

import (
	"time"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Window is a period, and how often something was done in it. The period begins with the
// first act. Rooms keep a window in a row of its own, or in the row that the acts change, and
// write it on the condition that it is as it was read. The zero value has counted nothing.
type Window struct {
	Begins time.Time `json:"begins"` // whole seconds, UTC
	Count  int       `json:"count"`
}

// Left returns how long the period lasts after now, 0 if it is over.
func (w Window) Left(l spec.Limit, now time.Time) time.Duration {
	return max(0, w.Begins.Add(l.Per).Sub(now))
}

// Check returns problem.Beyond of the limit if as many acts were counted in the period: its
// RetryAfter is what is left of the period.
func (w Window) Check(l spec.Limit, now time.Time) error {
	if left := w.Left(l, now); left > 0 && w.Count >= l.Max {
		return problem.Beyond(l).WithRetryAfter(left)
	}

	return nil
}

// Take returns the window with one more act, or, if its period is over, one whose period
// begins now. It returns the error of Check if the limit allows no more.
func (w Window) Take(l spec.Limit, now time.Time) (Window, error) {
	if err := w.Check(l, now); err != nil {
		return w, err
	}

	if w.Left(l, now) == 0 {
		return Window{Begins: now.UTC().Truncate(time.Second), Count: 1}, nil
	}

	w.Count++

	return w, nil
}
