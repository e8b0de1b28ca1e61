package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/fcm"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Wait is the time between two attempts of a request, and Attempts their limit, in a run
// with faults.
const (
	Wait     = 7 * time.Second
	Attempts = 30
)

// World is a fleet with a simulated clock, and the problems that belong to no case.
type World struct {
	*Report
	Fleet *fleet.Fleet
	Clock *clock.Clock
	Trial *Trial // nil for a run without faults
	// Final are the codes of 429 that are final, however often the request is sent.
	Final []string

	Busy     time.Time // schedules run until then, whatever else needs them
	Requests int       // without repetitions
	Refused  int       // requests that were refused, as they must be

	problems []string // that belong to no case
}

// NewWorld returns the world of a replay, which Play starts.
func NewWorld(cfg Config) *World { return &World{Report: NewReport(cfg)} }

// Play starts the fleet of rooms at a time, calls play, and stops it. awake is that of
// fleet.Config, in addition to Busy. play starts the faults.
func (w *World) Play(ctx context.Context, start time.Time, cfg fleet.Config, awake func(time.Time) bool,
	play func(context.Context) error) (err error) {
	defer func() {
		if err != nil {
			w.Complaints()
		}
	}()

	w.Clock = clock.New(start, clock.Free)

	hold := w.Clock.Work()
	defer hold()
	defer w.Clock.Stop()

	cfg.Clock, cfg.Root, cfg.Program, cfg.Invocation = w.Clock, w.Root, w.Program, w.Invocation

	cfg.Awake = func(at time.Time) bool { return at.Before(w.Busy) || awake(at) }
	if cfg.Log == nil {
		cfg.Log = w.Log
	}

	if w.Trial != nil {
		w.Trial.Faults.Clock = w.Clock
		cfg.Faults = w.Trial.Faults
		cfg.Push = func(apns.Push) { w.Trial.Faults.MarkActive() }
		cfg.Sent = func(fcm.Sent) { w.Trial.Faults.MarkActive() }
	}

	if w.Fleet, err = fleet.Start(ctx, cfg); err != nil {
		return err
	}
	defer w.Fleet.Close()
	defer w.Close()

	if err := w.Fleet.Begin(ctx); err != nil {
		return err
	}

	return play(ctx)
}

// Until advances the clock to a time.
func (w *World) Until(ctx context.Context, at time.Time) error {
	if !at.After(w.Clock.Now()) {
		return nil
	}

	return w.Clock.Sleep(ctx, at)
}

// Try repeats a request until it is answered, and returns the code of a refusal, "" for success.
// Without faults, an error of the server is returned at once. again reports that an earlier
// attempt may have taken effect.
func (w *World) Try(ctx context.Context, do func() error) (code string, again bool, err error) {
	w.Requests++

	for n := 1; ; n++ {
		err := do()

		refusal, ok := errors.AsType[*fleet.Refusal](err)
		switch {
		case err == nil:
			return "", n > 1, nil
		case ok && refusal.Status < http.StatusInternalServerError &&
			(refusal.Status != http.StatusTooManyRequests || slices.Contains(w.Final, codeOf(refusal))):
			return codeOf(refusal), n > 1, nil
		case w.Trial == nil || n == Attempts || ctx.Err() != nil:
			return "", n > 1, err
		}

		if err := w.Until(ctx, w.Clock.Now().Add(Wait)); err != nil {
			return "", n > 1, err
		}
	}
}

// codeOf returns the stable code at the end of the type of a problem document, or the status of
// another answer.
func codeOf(refusal *fleet.Refusal) string {
	var problem struct{ Type string }
	if json.Unmarshal(refusal.Body, &problem) != nil || problem.Type == "" {
		return refusal.Error()
	}

	return problem.Type[strings.LastIndex(problem.Type, ":")+1:]
}

// Judge returns what is wrong with the answer to a request, "" for nothing. The answer must have
// the code want, "" for success. Judge counts refusals.
func (w *World) Judge(what, code, want string, err error) string {
	orOK := func(code string) string {
		if code == "" {
			return "success"
		}

		return code
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", what, err)
	case code != want:
		return fmt.Sprintf("%s: got %s, want %s", what, orOK(code), orOK(want))
	case want != "":
		w.Refused++
	}

	return ""
}

// Fail records a problem that belongs to no case. It keeps the first few.
func (w *World) Fail(problem string) {
	if len(w.problems) < 20 {
		w.problems = append(w.problems, problem)
	}
}

// Failed returns the first problem that belongs to no case.
func (w *World) Failed() error {
	if len(w.problems) == 0 {
		return nil
	}

	return errors.New(w.problems[0])
}

// Settle waits until the queues are empty and idle returns true, at most four hours. It checks
// after each period of every.
func (w *World) Settle(ctx context.Context, every time.Duration, idle func() bool) {
	w.Busy = w.Clock.Now().Add(5 * time.Hour)

	limit := w.Clock.Now().Add(4 * time.Hour)
	for {
		if w.Until(ctx, w.Clock.Now().Add(every)) != nil {
			return
		}

		if len(w.unfinished()) == 0 && idle() || w.Clock.Now().After(limit) {
			break
		}
	}

	w.Busy = w.Clock.Now()
}

// unfinished lists the queues with messages, except dead-letter queues.
func (w *World) unfinished() (queues []string) {
	for _, d := range w.Fleet.Queues.Stats() {
		if n := d.Visible + d.Delayed + d.InFlight; n > 0 && !dead(d.Queue) {
			queues = append(queues, fmt.Sprintf("%s holds %d", d.Queue, n))
		}
	}

	return queues
}

func dead(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".fifo"), spec.Queue{}.DeadLetter())
}

// CheckQueues records the messages that are still in the queues.
func (w *World) CheckQueues() {
	for _, q := range w.unfinished() {
		w.Fail("at the end the queue " + q)
	}

	for _, d := range w.Fleet.Queues.Stats() {
		if !dead(d.Queue) {
			continue
		}

		for _, m := range w.Fleet.Queues.Messages(d.Queue) {
			why := "it was tried too often"
			if reason := m.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
				why = *reason
			}

			w.Fail("a message ended in " + d.Queue + ": " + why)
		}
	}
}

// Summarize writes the problems that belong to no case, and the last line. right reports whether
// all cases are right. It returns ErrFailed if there is a problem.
func (w *World) Summarize(right bool, format string, args ...any) error {
	if w.Trial != nil && w.Trial.tally(w.Report) == 0 {
		w.Fail("nothing went wrong")
	}

	failed := !right || len(w.problems) > 0
	if failed || w.Trial == nil {
		w.Complaints()
	}

	for _, p := range w.problems {
		w.Printf("FAIL  %s\n", p)
	}

	if w.Trial != nil {
		w.Printf("with the faults of seed %d: ", w.Trial.seed)
	}

	w.Printf(format+"\n", args...)

	if failed {
		return ErrFailed
	}

	return nil
}
