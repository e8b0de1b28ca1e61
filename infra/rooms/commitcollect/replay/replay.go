// Package replay plays a year of CommitCollect through the API: athletes connect Strava,
// run, ride and swim, start milestones, pause, edit, abandon and delete them, and earn parts;
// the phones of some upload workouts. Strava loses, doubles and delays its webhooks, limits its
// API, answers nobody for two weeks, moves its API, and has activities edited, moved, hidden and
// deleted; access is revoked, accounts are deleted. It compares what users see with an
// oracle that knows only what is at Strava and on the phones.
package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/commitcollect/browser"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/strava"
)

// Config is the configuration of the frame, and what to run.
type Config struct {
	replay.Config
	Room    fleet.Room // CommitCollect
	Weeks   int        // of the year
	People  int        // at most 20
	Webhook string     // the secret of the webhook's address
	// Settling is how long a workout must be unchanged before it mints parts.
	Settling time.Duration
	// Moved returns the settings with which the room finds Strava's API after its move.
	Moved func() []string
	// Simulate is that of Room, with a Strava as configured.
	Simulate func(fleet.Host, strava.Config) (*strava.Sim, []string, error)
}

// start is the begin of the year, which is not that of the calendar. It is that in which Strava accepts both
// the old ways of its programme and the new ones.
var start = time.Date(2026, 6, 1, 4, 0, 0, 0, time.UTC)

// What Strava does wrong. Its limits are lower than the app believes.
var misbehaviour = strava.Config{
	Faults:  strava.Faults{Lost: 0.04, Doubled: 0.06, Late: 0.08, NotYet: 0.1, Unavailable: 0.01},
	Quarter: 80, Day: 900,
}

// run is one Run.
type run struct {
	*replay.World
	*world
	cfg      Config
	strava   *strava.Sim
	compared int // answers that were compared with the oracle
	models   map[string]*model
}

// Run plays a year. It returns replay.ErrFailed if something differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{World: replay.NewWorld(cfg.Config), world: newWorld(cfg.Seed, cfg.People, cfg.Weeks), cfg: cfg, models: newModels()}
	r.Final = []string{"sync_too_soon"}
	room := cfg.Room
	room.Simulate = func(h fleet.Host) (env []string, err error) {
		sim := misbehaviour
		sim.Clock, sim.Faults.Seed = r.Clock, cfg.Seed
		r.strava, env, err = cfg.Simulate(h, sim)

		return env, err
	}
	rooms := append(slices.Clone(cfg.Others), room)
	r.Trial = replay.NewTrial(cfg.Config, rooms, odds, drawn)
	// Schedules run twice a day, unless an account is being deleted. Workouts expire in runs of their own.
	awake := func(at time.Time) bool {
		return at.Hour()%12 == 3 && at.Minute() < 10 || r.cfg.Retention > 0 && at.Hour()%12 == 4 && at.Minute()/10 == 3
	}
	if err := r.Play(ctx, start, fleet.Config{Rooms: rooms, Expiry: 7 * day, Log: r.log}, awake, r.play); err != nil {
		return err
	}

	return r.summarize()
}

// play does every step.
func (r *run) play(ctx context.Context) error {
	for _, a := range r.athletes {
		a.browser = browser.New(r.Fleet.URL + prefix)
	}

	r.prepare(ctx)

	if err := r.Failed(); err != nil {
		return err
	}

	r.Trial.Start()

	steps, days := r.plan(), int(r.end.Sub(start)/day)
	for _, s := range steps {
		if err := r.Until(ctx, s.at); err != nil {
			return err
		}

		s.do(ctx)

		if ctx.Err() != nil {
			return ctx.Err()
		}

		done := int(r.Clock.Now().Sub(start) / day)
		r.Bar(done, days, fmt.Sprintf("%d of %d days", done, days))
	}

	if err := r.Until(ctx, r.end); err != nil {
		return err
	}

	for _, a := range r.athletes {
		r.finish(ctx, a)
	}

	// What the last recomputations found settles.
	if err := r.Until(ctx, r.Clock.Now().Add(2*r.cfg.Settling)); err != nil {
		return err
	}

	r.CheckQueues()

	return ctx.Err()
}

const prefix = "/commitcollect"

// log counts what a function logs, whatever the activity.
func (r *run) log(l lambda.Log) {
	l.Line = activities.ReplaceAllString(l.Line, "/activities/{id}")
	r.Log(l)
}

var activities = regexp.MustCompile(`/activities/[0-9]+`)

// ask calls the API as an athlete, and records a difference unless the answer has the code,
// "" for success. gone is a code that is also right for a request that took effect before.
// ask reports whether the request took effect. An athlete whose session has ended signs in
// again.
func (r *run) ask(ctx context.Context, a *athlete, method, path string, in, out any, want, gone string, header ...string) bool {
	call := func() error { return a.browser.Call(ctx, method, path, in, out, header...) }

	code, again, err := r.Try(ctx, call)
	if (code == "invalid_session" || code == "missing_session") && want != code && !a.gone {
		a.did["sign-ins"]++

		if err = r.signIn(ctx, a); err == nil {
			code, again, err = r.Try(ctx, call)
		}
	}

	if code != "" && again && code == gone {
		code = ""
	}

	if wrong := r.Judge(r.date()+" "+method+" "+path, code, want, err); wrong != "" {
		a.fail("%s", wrong)
	}

	return err == nil && code == ""
}

// again does what begins at another site, as a user does who is sent back with a code or a state that was
// used by a request whose answer was lost: from the beginning.
func (r *run) again(ctx context.Context, do func() error) (code string, err error) {
	for range replay.Attempts {
		if code, _, err = r.Try(ctx, do); code != "invalid_or_expired_code" && code != "invalid_or_expired_state" {
			break
		}
	}

	return code, err
}

// signIn signs an athlete in.
func (r *run) signIn(ctx context.Context, a *athlete) error {
	code, err := r.again(ctx, func() error { return a.browser.SignIn(ctx, a.user) })
	if err == nil && code != "" {
		err = errors.New(code)
	}

	return err
}

// date is the present day, for problems.
func (r *run) date() string { return r.Clock.Now().Format("2006-01-02 15:04") }

// call calls the API without a session: as an administrator, or as Strava, who is "".
func (r *run) call(ctx context.Context, user, method, path string, in, out any, want string) {
	code, _, err := r.Try(ctx, func() error { return r.Fleet.Call(ctx, user, method, prefix+path, in, out) })
	if wrong := r.Judge(r.date()+" "+method+" "+path, code, want, err); wrong != "" {
		r.Fail(wrong)
	}
}

// finish compares everything of an athlete, and writes the line.
func (r *run) finish(ctx context.Context, a *athlete) {
	r.check(ctx, a)

	if !a.gone {
		if len(a.milestones) == 0 {
			a.fail("no milestone was started")
		}

		r.checkReasons(ctx, a, atStrava, 12)
		r.checkReasons(ctx, a, onPhone, 12)
		r.checkPhone(a)
	}

	var goals []string
	for _, m := range a.milestones {
		mark := map[string]string{abandoned: "-", ended: "."}[m.state(r.Clock.Now())]
		goals = append(goals, fmt.Sprintf("%d/%d%s", len(m.reached), m.parts, mark))
	}

	var did []string
	for _, k := range slices.Sorted(maps.Keys(a.did)) {
		did = append(did, fmt.Sprintf("%d %s", a.did[k], k))
	}

	r.Case(fmt.Sprintf("%-6s %3d activities, parts %-40s %s", a.name, len(a.activities), strings.Join(goals, " "), strings.Join(did, ", ")),
		a.name, a.problems)
}

func (r *run) summarize() error {
	ok, activities, milestones, parts := 0, 0, 0, 0

	for _, a := range r.athletes {
		if len(a.problems) == 0 {
			ok++
		}

		activities += len(a.activities)

		all := append(slices.Clone(a.milestones), a.deleted...)

		milestones += len(all)
		for _, m := range all {
			parts += len(m.reached)
		}
	}

	if r.Trial == nil {
		s := r.strava.Counts()
		r.Printf("Strava lost %d webhooks, doubled %d, delayed %d, and refused %d calls beyond its limits\n",
			s.Lost, s.Doubled, s.Late, s.Limited)
	}

	return r.Summarize(ok == len(r.athletes),
		"%d of %d athletes ok; %d weeks, %d activities, %d milestones, %d parts, each minted once; %d answers as the oracle says; %d requests "+
			"refused, as they must be",
		ok, len(r.athletes), r.cfg.Weeks, activities, milestones, parts, r.compared, r.Refused)
}
