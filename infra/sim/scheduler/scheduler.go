// Package scheduler simulates EventBridge Scheduler: it parses its expressions and
// calls targets at their times under a simulated clock.
package scheduler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/winebarrel/cronplan"

	"matchday/infra/sim/clock"
)

// Schedule is a parsed expression.
type Schedule interface {
	// Next returns the first time strictly after a time, or the zero time if the
	// schedule never fires again.
	Next(after time.Time) time.Time
}

// Parse reads rate(5 minutes), cron(0 8 ? * MON-FRI *) or at(2026-06-01T12:00:00).
// zone is the IANA time zone in which cron and at are read, or "" for UTC.
//
// A rate fires at multiples of its period in UTC: rate(15 minutes) at every quarter
// of an hour, rate(1 day) at midnight. AWS counts from the schedule's creation
// instead. A cron time that does not exist because clocks go forward is skipped. A
// cron time that exists twice because clocks go back fires once, the first time.
func Parse(expr, zone string) (Schedule, error) {
	s, err := parse(expr, zone)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", expr, err)
	}

	return s, nil
}

func parse(expr, zone string) (Schedule, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil || loc == time.Local {
		return nil, fmt.Errorf("%q is not an IANA time zone", zone)
	}

	kind, arg, open := strings.Cut(expr, "(")

	arg, closed := strings.CutSuffix(arg, ")")
	if open && closed {
		switch kind {
		case "rate":
			return parseRate(arg)
		case "cron":
			return parseCron(arg, loc)
		case "at":
			return parseAt(arg, loc)
		}
	}

	return nil, errors.New("must be rate(…), cron(…) or at(…)")
}

type rate time.Duration

// parseRate requires the singular of the unit after 1 and the plural otherwise, as
// EventBridge rules do. Scheduler accepts both.
func parseRate(arg string) (Schedule, error) {
	const most = 100_000 // days in a time.Duration

	value, unit, _ := strings.Cut(arg, " ")

	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return nil, fmt.Errorf("a rate is a whole number from 1 to %d and a unit", most)
	}

	if n > 1 {
		unit, _ = strings.CutSuffix(unit, "s")
	}

	per, ok := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[unit]
	if !ok || n > 1 != strings.HasSuffix(arg, "s") {
		return nil, errors.New("a rate's unit is minute, hour or day after 1, and minutes, hours or days otherwise")
	}

	return rate(time.Duration(n) * per), nil
}

func (r rate) Next(after time.Time) time.Time {
	d := time.Duration(r)
	return after.UTC().Truncate(d).Add(d)
}

type at time.Time

func parseAt(arg string, loc *time.Location) (Schedule, error) {
	const layout = "2006-01-02T15:04:05"

	t, err := time.ParseInLocation(layout, arg, loc)
	if err != nil {
		return nil, errors.New("at needs a time such as 2026-06-01T12:00:00")
	}

	if t.Format(layout) != arg {
		return nil, fmt.Errorf("%s does not exist in %v, where clocks go forward", arg, loc)
	}

	return at(t), nil
}

func (a at) Next(after time.Time) time.Time {
	if t := time.Time(a); t.After(after) {
		return t
	}

	return time.Time{}
}

type cron struct {
	expr *cronplan.Expression
	zone *time.Location
}

func parseCron(arg string, loc *time.Location) (Schedule, error) {
	expr, err := cronplan.Parse(arg)
	if err != nil {
		return nil, fmt.Errorf("not a cron expression of six fields: %w", err)
	}

	for _, e := range expr.DayOfWeek.Exps {
		if e.Nth != nil && (e.Nth.Nth < 1 || e.Nth.Nth > 5) {
			return nil, fmt.Errorf("a month has no weekday #%d", e.Nth.Nth)
		}
	}

	expr.DayOfMonth.Exps = expandRanges(expr.DayOfMonth.Exps)

	return cron{expr, loc}, nil
}

// expandRanges replaces ranges of days by single days. cronplan v1.10.1 panics at a
// range that starts after the end of a month, such as 30-31 in February.
func expandRanges(exps []*cronplan.DayOfMonthExp) (out []*cronplan.DayOfMonthExp) {
	const longest = 31

	for _, e := range exps {
		if e.Range == nil {
			out = append(out, e)
			continue
		}

		first, last, step := e.Range.Start.Int(), e.Range.End.Int(), 1
		if e.Bottom != nil {
			step = *e.Bottom
		}

		if step < 1 { // cronplan takes the first day only
			last, step = first, 1
		}

		if last < first { // around the end of the month
			last += longest
		}

		for d := first; d <= last; d += step {
			day := cronplan.DayOfMonth((d-1)%longest + 1)
			out = append(out, &cronplan.DayOfMonthExp{Number: &day})
		}
	}

	return out
}

// Next searches wall times in UTC, where each exists once, because cronplan shifts
// or skips times near a change of clocks.
func (c cron) Next(after time.Time) time.Time {
	local := after.In(c.zone)

	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
	for {
		wall = c.expr.Next(wall.Add(time.Minute)) // Next includes the minute it is given
		if wall.IsZero() {
			return time.Time{}
		}

		if t, ok := instant(wall, c.zone); ok && t.After(after) {
			return t
		}
	}
}

// instant returns the first time at which clocks in zone show wall. It returns false
// if they never do.
func instant(wall time.Time, zone *time.Location) (time.Time, bool) {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
	_, offset := t.Zone()

	_, before := t.Add(-24 * time.Hour).Zone()
	if first := t.Add(time.Duration(offset-before) * time.Second); shows(first, wall) {
		return first, true
	}

	return t, shows(t, wall)
}

func shows(t, wall time.Time) bool {
	const minute = "2006-01-02 15:04"
	return t.Format(minute) == wall.Format(minute)
}

// Run calls target at each time of s after now, until stop is called. The argument
// is the scheduled time. The call comes later by what jitter returns; nil means no
// delay (AWS starts targets within the scheduled minute). Each call has its own
// goroutine, which holds clock work, so a slow target does not delay the next call.
// stop does not wait for running targets.
func Run(c *clock.Clock, s Schedule, jitter func() time.Duration, target func(scheduled time.Time)) (stop func()) {
	if jitter == nil {
		jitter = func() time.Duration { return 0 }
	}

	r := &runner{clock: c, schedule: s, jitter: jitter, target: target}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.arm(c.Now())

	return r.stop
}

type runner struct {
	clock    *clock.Clock
	schedule Schedule
	jitter   func() time.Duration
	target   func(time.Time)

	mu      sync.Mutex
	cancel  func() bool // of the next firing; nil when there is none
	stopped bool
}

func (r *runner) arm(after time.Time) {
	r.cancel = nil
	if due := r.schedule.Next(after); !due.IsZero() {
		r.cancel = r.clock.At(due.Add(r.jitter()), func() { r.fire(due) })
	}
}

func (r *runner) fire(due time.Time) {
	r.mu.Lock()

	stopped := r.stopped
	if !stopped {
		r.arm(due)
	}
	r.mu.Unlock()

	if !stopped {
		r.target(due)
	}
}

func (r *runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.stopped = true
	if r.cancel != nil {
		r.cancel()
	}
}
