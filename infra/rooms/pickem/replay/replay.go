// Package replay plays a year of pick'em through the API: shows are announced, changed,
// moved and called off, members pick in time, late or not at all, results are entered,
// corrected and cleared, members come and go.
//
// An oracle knows only what the API has accepted. After each scoring it is compared with the
// results of the show, the score that each member sees, the tables of the year and of the
// leagues, and the notifications on the phones; not with profiles, logs of corrections, or the
// results of a show in a league.
package replay

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
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
	*replay.World
	*world

	done     int
	picked   int // saved predictions
	received int // notifications on phones
}

// Run plays a year with cfg.Shows shows. It returns replay.ErrFailed if a table, a result or
// a notification differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{World: replay.NewWorld(cfg.Config), world: newWorld(cfg.Seed, cfg.Shows)}

	r.Trial = replay.NewTrial(cfg.Config, cfg.Rooms, odds, drawn)
	if err := r.Play(ctx, start, fleet.Config{Rooms: cfg.Rooms}, r.awake, r.play); err != nil {
		return err
	}

	return r.summarize()
}

// play does every step.
func (r *run) play(ctx context.Context) error {
	for _, m := range r.members {
		r.admit(ctx, m)
	}

	if err := r.Failed(); err != nil {
		return err
	}

	r.Trial.Start()

	tracks := r.plan()
	for {
		tracks = slices.DeleteFunc(tracks, func(t *track) bool { return len(t.steps) == 0 })
		if len(tracks) == 0 {
			break
		}

		t := slices.MinFunc(tracks, func(a, b *track) int { return a.due().Compare(b.due()) })
		if err := r.Until(ctx, t.due()); err != nil {
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
	r.CheckQueues()

	return ctx.Err()
}

// awake reports whether schedules run at a time. In the weeks between the shows they would
// find nothing to do.
func (r *run) awake(at time.Time) bool {
	return slices.ContainsFunc(r.shows, func(s *show) bool {
		left := s.lock.Sub(at)
		return s.exists && (within(left, dayAhead-remindIn, dayAhead+time.Minute) || within(left, hoursAhead-remindIn, hoursAhead+time.Minute) ||
			within(left, -3*time.Minute, time.Minute))
	})
}

func within(d, from, to time.Duration) bool { return from <= d && d <= to }

// remindIn is the time in which the job that reminds members runs at least twice.
const remindIn = 46 * time.Minute

// call calls the API as a user until it answers.
func (r *run) call(ctx context.Context, user, method, path string, in, out any) (code string, again bool, err error) {
	return r.Try(ctx, func() error { return r.Fleet.Call(ctx, user, method, "/pickem"+path, in, out) })
}

// ask calls the API and records a difference unless the answer has the code, "" for success.
// gone is a code that is also right for a request that took effect before. ask reports whether
// the request took effect.
func (r *run) ask(ctx context.Context, s *show, user, method, path string, in, out any, want, gone string) bool {
	code, again, err := r.call(ctx, user, method, path, in, out)
	if code != "" && again && code == gone {
		code = ""
	}

	if wrong := r.Judge(method+" "+path+" of "+r.nameOf(user), code, want, err); wrong != "" {
		r.fail(s, "%s", wrong)
	}

	return err == nil && code == ""
}

// admin is ask as an administrator.
func (r *run) admin(ctx context.Context, s *show, method, path string, in, out any, want, gone string) bool {
	return r.ask(ctx, s, fleet.Administrator, method, path, in, out, want, gone)
}

// fail records a failure of a show, or of the run if s is nil.
func (r *run) fail(s *show, format string, args ...any) {
	if s != nil {
		s.fail("%s", r.named(fmt.Sprintf(format, args...)))
	} else {
		r.Fail(r.named(fmt.Sprintf(format, args...)))
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
	r.Settle(ctx, 3*time.Minute, func() bool { return !r.updating(ctx) })
}

// updating reports whether the points of a show are not those of its results.
func (r *run) updating(ctx context.Context) bool {
	defer func(n int) { r.Requests = n }(r.Requests) // how often it asks depends on the faults

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

	return r.Summarize(ok == len(r.shows), "%d of %d shows ok; %d members, %d leagues, %d requests (%d refused, as they must be), %d saves "+
		"of picks, %d notifications",
		ok, len(r.shows), len(r.members), len(r.leagues), r.Requests, r.Refused, r.picked, r.received)
}
