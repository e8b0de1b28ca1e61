// Package replay plays a year of pick'em through the API: shows are announced, changed,
// moved and called off, members pick in time, late or not at all, results are entered,
// corrected and cleared, members come and go. It compares every table, result and
// notification with an oracle that knows only what the API has accepted.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/sim/clock"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Config is the configuration of the frame, what to run, and the number of shows.
type Config struct {
	replay.Config
	Rooms []fleet.Room // pick'em and the rooms that it needs
	Shows int
}

var (
	start     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) // of the year, for whoever plays
	firstShow = time.Date(2026, 1, 13, 0, 0, 0, 0, time.UTC)
)

const thisYear = "2026"

// run is one Run.
type run struct {
	*replay.Report
	*world
	fleet *fleet.Fleet
	clock *clock.Clock
	trial *trial // nil when nothing goes wrong

	busy     time.Time // until when the schedules run, whatever the shows need
	problems []string  // that belong to no show
	done     int
	requests int
	refused  int // requests that must be refused
	picked   int // saved predictions
	told     int // notifications on phones
}

// Run plays a year with cfg.Shows shows. It returns replay.ErrFailed if a table, a result or
// a notification differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{Report: replay.NewReport(cfg.Config), world: newWorld(cfg.Seed, cfg.Shows)}
	if cfg.Faults != nil {
		r.trial = newTrial(*cfg.Faults, cfg.Rooms)
	}
	if err := r.play(ctx, cfg.Rooms); err != nil {
		r.Complaints()
		return err
	}
	return r.summarize()
}

// play runs the fleet until every step is done.
func (r *run) play(ctx context.Context, rooms []fleet.Room) error {
	r.clock = clock.New(start, clock.Free)
	hold := r.clock.Work()
	defer hold()
	defer r.clock.Stop()
	cfg := fleet.Config{Clock: r.clock, Root: r.Root, Bin: r.Bin, Rooms: rooms, Awake: r.awake, Log: r.Log, Invocation: r.Invocation}
	if r.trial != nil {
		r.trial.prepare(&cfg)
	}
	f, err := fleet.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer f.Close()
	defer r.Close()
	r.fleet = f
	if err := f.Begin(ctx); err != nil {
		return err
	}
	if err := r.invite(ctx); err != nil {
		return err
	}
	if r.trial != nil {
		r.trial.faults.Start()
	}
	tracks := r.plan()
	for {
		tracks = slices.DeleteFunc(tracks, func(t *track) bool { return len(t.steps) == 0 })
		if len(tracks) == 0 {
			break
		}
		t := slices.MinFunc(tracks, func(a, b *track) int { return a.due().Compare(b.due()) })
		if err := r.until(ctx, t.due()); err != nil {
			return err
		}
		step := t.steps[0]
		t.steps = t.steps[1:]
		step.do(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.settle(ctx)
	r.checkQueues()
	return ctx.Err()
}

// until advances the clock to a time.
func (r *run) until(ctx context.Context, at time.Time) error {
	if !at.After(r.clock.Now()) {
		return nil
	}
	return r.clock.Sleep(ctx, at)
}

// awake reports whether schedules run at a time. In the weeks between the shows they would
// find nothing to do.
func (r *run) awake(at time.Time) bool {
	if at.Before(r.busy) {
		return true
	}
	return slices.ContainsFunc(r.shows, func(s *show) bool {
		left := s.lock.Sub(at)
		return s.exists && (within(left, dayAhead-remindIn, dayAhead+time.Minute) || within(left, hoursAhead-remindIn, hoursAhead+time.Minute) || within(left, -3*time.Minute, time.Minute))
	})
}

func within(d, from, to time.Duration) bool { return from <= d && d <= to }

// invite makes the people members, with their phones.
func (r *run) invite(ctx context.Context) error {
	for _, m := range r.members {
		r.admit(ctx, m)
	}
	if len(r.problems) > 0 {
		return errors.New(r.problems[0])
	}
	return nil
}

// remindIn is the time in which the job that reminds members runs at least twice.
const remindIn = 46 * time.Minute

// wait is the time between two attempts of a request.
const wait = 7 * time.Second

// attempts is the limit of attempts of a request in a run with faults.
const attempts = 30

// call calls the API as a user until it answers. Without faults, an error of the server is
// returned at once. again reports that an earlier attempt may have taken effect.
func (r *run) call(ctx context.Context, user, method, path string, in, out any) (code string, again bool, err error) {
	for n := 1; ; n++ {
		r.requests++
		err := r.fleet.Call(ctx, user, method, "/pickem"+path, in, out)
		refusal, ok := errors.AsType[*fleet.Refusal](err)
		switch {
		case err == nil:
			return "", n > 1, nil
		case ok && refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests:
			return codeOf(refusal), n > 1, nil
		case r.trial == nil || n == attempts || ctx.Err() != nil:
			return "", n > 1, err
		}
		r.requests-- // attempts are not the same in number where answers are lost
		if err := r.until(ctx, r.clock.Now().Add(wait)); err != nil {
			return "", n > 1, err
		}
	}
}

// ask calls the API and records a difference unless the answer has the code, "" for success.
// gone is a code that is also right for a request that took effect before. ask reports whether
// the request took effect.
func (r *run) ask(ctx context.Context, s *show, user, method, path string, in, out any, want, gone string) bool {
	code, again, err := r.call(ctx, user, method, path, in, out)
	if code != "" && again && code == gone {
		code = ""
	}
	switch {
	case err != nil:
		r.fail(s, "%v", err)
	case code != want:
		r.fail(s, "%s %s of %s: got %s, want %s", method, path, r.nameOf(user), orOK(code), orOK(want))
	case want != "":
		r.refused++
	}
	return err == nil && code == ""
}

func orOK(code string) string {
	if code == "" {
		return "success"
	}
	return code
}

// admin is ask as an administrator.
func (r *run) admin(ctx context.Context, s *show, method, path string, in, out any, want, gone string) bool {
	return r.ask(ctx, s, fleet.Administrator, method, path, in, out, want, gone)
}

// fail records a failure of a show, or of the run if s is nil.
func (r *run) fail(s *show, format string, args ...any) {
	if s != nil {
		s.fail("%s", r.named(fmt.Sprintf(format, args...)))
	} else if len(r.problems) < 20 {
		r.problems = append(r.problems, r.named(fmt.Sprintf(format, args...)))
	}
}

// nameOf is the name of a user.
func (r *run) nameOf(user string) string {
	for _, m := range r.members {
		if m.id == user {
			return m.name
		}
	}
	return user
}

// named replaces ids that differ between runs by names.
func (r *run) named(text string) string {
	for _, l := range r.leagues {
		text = strings.ReplaceAll(text, l.id, l.name)
	}
	return text
}

// settle waits until the queues are empty and no scored show is being scored again.
func (r *run) settle(ctx context.Context) {
	r.busy = r.clock.Now().Add(5 * time.Hour)
	limit := r.clock.Now().Add(4 * time.Hour)
	for {
		if r.until(ctx, r.clock.Now().Add(3*time.Minute)) != nil {
			return
		}
		if len(r.unfinished()) == 0 && !r.updating(ctx) || r.clock.Now().After(limit) {
			break
		}
	}
	r.busy = r.clock.Now()
}

// updating reports whether the points of a show are not those of its results.
func (r *run) updating(ctx context.Context) bool {
	defer func(n int) { r.requests = n }(r.requests) // how often it asks depends on the faults
	return slices.ContainsFunc(r.shows, func(s *show) bool {
		if !s.exists || !s.scored {
			return false
		}
		var e struct {
			State    string
			Updating bool
		}
		_, _, err := r.call(ctx, r.members[0].id, http.MethodGet, "/app/events/"+s.id, nil, &e)
		return err != nil || e.State != "scored" || e.Updating
	})
}

// unfinished lists the queues with messages, except dead-letter queues.
func (r *run) unfinished() (queues []string) {
	for _, d := range r.fleet.Queues.Stats() {
		if n := d.Visible + d.Delayed + d.InFlight; n > 0 && !dead(d.Queue) {
			queues = append(queues, fmt.Sprintf("%s holds %d", d.Queue, n))
		}
	}
	return queues
}

func dead(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".fifo"), spec.Queue{}.DeadLetter())
}

// checkQueues records what is left in the queues.
func (r *run) checkQueues() {
	for _, q := range r.unfinished() {
		r.fail(nil, "at the end the queue %s", q)
	}
	for _, d := range r.fleet.Queues.Stats() {
		if !dead(d.Queue) {
			continue
		}
		for _, m := range r.fleet.Queues.Messages(d.Queue) {
			why := "it was tried too often"
			if reason := m.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
				why = *reason
			}
			r.fail(nil, "a message ended in %s: %s", d.Queue, why)
		}
	}
}

// report writes the line of a show.
func (r *run) report(s *show, what string) {
	var did []string
	for _, k := range slices.Sorted(maps.Keys(s.did)) {
		did = append(did, fmt.Sprintf("%d %s", s.did[k], k))
	}
	r.Case(fmt.Sprintf("%s  %-20s %-10s %s", s.id[:len(time.DateOnly)], s.name, what, strings.Join(did, ", ")), s.id, s.problems)
	r.done++
	r.Bar(r.done, len(r.shows), fmt.Sprintf("%d of %d shows", r.done, len(r.shows)))
}

func (r *run) summarize() error {
	ok := 0
	for _, s := range r.shows {
		if len(s.problems) == 0 {
			ok++
		}
	}
	failed := ok < len(r.shows) || len(r.problems) > 0
	if failed || r.trial == nil {
		r.Complaints()
	}
	for _, p := range r.problems {
		r.Printf("FAIL  %s\n", p)
	}
	if r.trial != nil {
		r.trial.tally(r.Report)
	}
	r.Printf("%d of %d shows ok; %d members, %d leagues, %d requests (%d refused, as they must be), %d saves of picks, %d notifications\n",
		ok, len(r.shows), len(r.members), len(r.leagues), r.requests, r.refused, r.picked, r.told)
	if failed {
		return replay.ErrFailed
	}
	return nil
}

// codeOf is the stable code of a problem document, which its type ends in, or the status
// of another answer.
func codeOf(refusal *fleet.Refusal) string {
	var problem struct{ Type string }
	if json.Unmarshal(refusal.Body, &problem) != nil || problem.Type == "" {
		return refusal.Error()
	}
	return problem.Type[strings.LastIndex(problem.Type, ":")+1:]
}
