// Package replay plays a year of CommitCollect through the API: athletes connect Strava,
// run, ride and swim, start milestones and pause them, and earn parts. Strava loses, doubles
// and delays its webhooks, limits its API, and has activities edited, moved, hidden and
// deleted; access is revoked, accounts are deleted. It compares what users see with an
// oracle that knows only what is at Strava.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/commitcollect/browser"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/strava"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Config is the configuration of the frame, and what to run.
type Config struct {
	replay.Config
	Room    fleet.Room // CommitCollect
	Weeks   int        // of the year
	People  int        // at most 20
	Webhook string     // the secret of the webhook's address
	// Simulate is that of Room, with a Strava as configured.
	Simulate func(fleet.Host, strava.Config) (*strava.Sim, []string, error)
}

// start is the begin of the year, which is not that of the calendar.
var start = time.Date(2025, 7, 1, 4, 0, 0, 0, time.UTC)

// What Strava does wrong. Its limits are lower than the app believes.
var misbehaviour = strava.Config{
	Faults:  strava.Faults{Lost: 0.04, Doubled: 0.06, Late: 0.08, NotYet: 0.1, Unavailable: 0.01},
	Quarter: 80, Day: 900,
}

// run is one Run.
type run struct {
	*replay.Report
	*world
	cfg    Config
	fleet  *fleet.Fleet
	strava *strava.Sim
	clock  *clock.Clock
	trial  *trial // nil when nothing goes wrong

	busy     time.Time // until when the schedules run by day, too
	problems []string  // that belong to no athlete
	requests int
	refused  int // requests that must be refused
	compared int // answers that were compared with the oracle
}

// Run plays a year. It returns replay.ErrFailed if something differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{Report: replay.NewReport(cfg.Config), world: newWorld(cfg.Seed, cfg.People, cfg.Weeks), cfg: cfg}
	if cfg.Faults != nil {
		r.trial = newTrial(*cfg.Faults, append(slices.Clone(cfg.Others), cfg.Room))
	}
	if err := r.play(ctx); err != nil {
		r.Complaints()
		return err
	}
	return r.summarize()
}

// play runs the fleet until every step is done.
func (r *run) play(ctx context.Context) error {
	r.clock = clock.New(start, clock.Free)
	hold := r.clock.Work()
	defer hold()
	defer r.clock.Stop()
	room := r.cfg.Room
	room.Simulate = func(h fleet.Host) (env []string, err error) {
		sim := misbehaviour
		sim.Clock, sim.Faults.Seed = r.clock, r.cfg.Seed
		r.strava, env, err = r.cfg.Simulate(h, sim)
		return env, err
	}
	cfg := fleet.Config{
		Clock: r.clock, Root: r.Root, Bin: r.Bin, Rooms: append(slices.Clone(r.Others), room), Awake: r.awake, Expiry: 7 * day, Log: r.log, Invocation: r.Invocation,
	}
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
	for _, a := range r.athletes {
		a.browser = browser.New(f.URL + prefix)
	}
	r.prepare(ctx)
	if len(r.problems) > 0 {
		return errors.New(r.problems[0])
	}
	if r.trial != nil {
		r.trial.faults.Start()
	}
	steps, days := r.plan(), int(r.end.Sub(start)/day)
	for _, s := range steps {
		if err := r.until(ctx, s.at); err != nil {
			return err
		}
		s.do(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done := int(r.clock.Now().Sub(start) / day)
		r.Bar(done, days, fmt.Sprintf("%d of %d days", done, days))
	}
	if err := r.until(ctx, r.end); err != nil {
		return err
	}
	for _, a := range r.athletes {
		r.finish(ctx, a)
	}
	r.checkQueues()
	return ctx.Err()
}

const prefix = "/commitcollect"

// log counts what a function logs, whatever the activity.
func (r *run) log(l lambda.Log) {
	l.Line = activities.ReplaceAllString(l.Line, "/activities/{id}")
	r.Log(l)
}

var activities = regexp.MustCompile(`/activities/[0-9]+`)

// until advances the clock to a time.
func (r *run) until(ctx context.Context, at time.Time) error {
	if !at.After(r.clock.Now()) {
		return nil
	}
	return r.clock.Sleep(ctx, at)
}

// awake reports whether schedules run at a time: once a night, unless an account is being
// deleted.
func (r *run) awake(at time.Time) bool {
	return at.Before(r.busy) || at.Hour() == 3 && at.Minute() < 10
}

// wait is the time between two attempts of a request, and attempts their limit, in a run
// with faults.
const (
	wait     = 7 * time.Second
	attempts = 30
)

// try does something until it is answered. Without faults, an error of the server is
// returned at once. again reports that an earlier attempt may have taken effect.
func (r *run) try(ctx context.Context, do func() error) (code string, again bool, err error) {
	r.requests++
	for n := 1; ; n++ {
		err := do()
		refusal, ok := errors.AsType[*fleet.Refusal](err)
		switch {
		case err == nil:
			return "", n > 1, nil
		case ok && refusal.Status < http.StatusInternalServerError && (refusal.Status != http.StatusTooManyRequests || codeOf(refusal) == "sync_too_soon"):
			return codeOf(refusal), n > 1, nil
		case r.trial == nil || n == attempts || ctx.Err() != nil:
			return "", n > 1, err
		}
		if err := r.until(ctx, r.clock.Now().Add(wait)); err != nil {
			return "", n > 1, err
		}
	}
}

// ask calls the API as an athlete, and records a difference unless the answer has the code,
// "" for success. gone is a code that is also right for a request that took effect before.
// ask reports whether the request took effect. An athlete whose session has ended signs in
// again.
func (r *run) ask(ctx context.Context, a *athlete, method, path string, in, out any, want, gone string, header ...string) bool {
	call := func() error { return a.browser.Call(ctx, method, path, in, out, header...) }
	code, again, err := r.try(ctx, call)
	if code == "invalid_session" && want != code && !a.gone {
		a.did["sign-ins"]++
		if _, _, err = r.try(ctx, func() error { return a.browser.SignIn(ctx, a.user) }); err == nil {
			code, again, err = r.try(ctx, call)
		}
	}
	if code != "" && again && code == gone {
		code = ""
	}
	switch {
	case err != nil:
		a.fail("%s %s: %v", method, path, err)
	case code != want:
		a.fail("%s %s %s: got %s, want %s", r.date(), method, path, orOK(code), orOK(want))
	case want != "":
		r.refused++
	}
	return err == nil && code == ""
}

// date is the present day, for problems.
func (r *run) date() string { return r.clock.Now().Format("2006-01-02 15:04") }

func orOK(code string) string {
	if code == "" {
		return "success"
	}
	return code
}

// call calls the API without a session: as an administrator, or as Strava, who is "".
func (r *run) call(ctx context.Context, user, method, path string, in, out any, want string) {
	code, _, err := r.try(ctx, func() error { return r.fleet.Call(ctx, user, method, prefix+path, in, out) })
	switch {
	case err != nil:
		r.fail("%v", err)
	case code != want:
		r.fail("%s %s %s: got %s, want %s", r.date(), method, path, orOK(code), orOK(want))
	case want != "":
		r.refused++
	}
}

// fail records a failure that belongs to no athlete.
func (r *run) fail(format string, args ...any) {
	if len(r.problems) < 20 {
		r.problems = append(r.problems, fmt.Sprintf(format, args...))
	}
}

// checkQueues records what is left in the queues.
func (r *run) checkQueues() {
	for _, d := range r.fleet.Queues.Stats() {
		dead := strings.HasSuffix(strings.TrimSuffix(d.Queue, ".fifo"), spec.Queue{}.DeadLetter())
		if n := d.Visible + d.Delayed + d.InFlight; n > 0 && !dead {
			r.fail("at the end the queue %s holds %d", d.Queue, n)
		}
		if !dead {
			continue
		}
		for _, m := range r.fleet.Queues.Messages(d.Queue) {
			why := "it was tried too often"
			if reason := m.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
				why = *reason
			}
			r.fail("a message ended in %s: %s", d.Queue, why)
		}
	}
}

// finish compares everything of an athlete, and writes the line.
func (r *run) finish(ctx context.Context, a *athlete) {
	r.check(ctx, a)
	if !a.gone {
		r.checkReasons(ctx, a, 12)
		r.checkPhone(a)
	}
	var goals []string
	for _, m := range a.milestones {
		goals = append(goals, fmt.Sprintf("%d/%d", len(m.reached), m.parts))
	}
	var did []string
	for _, k := range slices.Sorted(maps.Keys(a.did)) {
		did = append(did, fmt.Sprintf("%d %s", a.did[k], k))
	}
	r.Case(fmt.Sprintf("%-6s %3d activities, parts %-24s %s", a.name, len(a.activities), strings.Join(goals, " "), strings.Join(did, ", ")), a.name, a.problems)
}

func (r *run) summarize() error {
	ok, activities, milestones, parts := 0, 0, 0, 0
	for _, a := range r.athletes {
		if len(a.problems) == 0 {
			ok++
		}
		activities += len(a.activities)
		milestones += len(a.milestones)
		for _, m := range a.milestones {
			parts += len(m.reached)
		}
	}
	failed := ok < len(r.athletes) || len(r.problems) > 0
	if failed || r.trial == nil {
		r.Complaints()
	}
	for _, p := range r.problems {
		r.Printf("FAIL  %s\n", p)
	}
	if r.trial != nil {
		r.trial.tally(r.Report)
	} else {
		s := r.strava.Counts()
		r.Printf("Strava lost %d webhooks, doubled %d, delayed %d, and refused %d calls beyond its limits\n", s.Lost, s.Doubled, s.Late, s.Limited)
	}
	r.Printf("%d of %d athletes ok; %d weeks, %d activities, %d milestones, %d parts, each minted once; %d answers as the oracle says; %d requests refused, as they must be\n",
		ok, len(r.athletes), r.cfg.Weeks, activities, milestones, parts, r.compared, r.refused)
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
