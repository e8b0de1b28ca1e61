// Package replay plays a season of 3FC through the API: two scorekeepers score games of three
// teams on bad networks, tap twice, undo, correct and come too late; rosters change, players
// are claimed and merged, and an account is deleted. It compares every score, table, page and
// mail with an oracle that knows only the goals.
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
	"matchday/infra/rooms/threefc/browser"
	"matchday/infra/sim/clock"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Config is the configuration of the frame, and what to run.
type Config struct {
	replay.Config
	Room     fleet.Room // 3FC
	Sessions int        // of the season, a week apart
	Games    int        // of a session
}

// start is when the league is founded, and firstDay the first session.
var (
	start    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	firstDay = time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
)

// run is one Run.
type run struct {
	*replay.Report
	*world
	cfg   Config
	fleet *fleet.Fleet
	clock *clock.Clock
	trial *trial // nil when nothing goes wrong

	admin    *user
	scorers  []*user // two scorekeepers
	viewer   *user
	browsers map[*user]*browser.Browser
	mails    map[string]map[string]bool // that must arrive, by address: what a mail's text contains

	busy     time.Time // until when the schedules run
	problems []string  // that belong to no game
	key      int       // of the latest request with a key
	requests int
	refused  int // requests that must be refused
	goals    int
	checked  int // answers that were compared with the oracle
	done     int
}

// Run plays a season. It returns replay.ErrFailed if something differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{Report: replay.NewReport(cfg.Config), world: &world{seed: cfg.Seed}, cfg: cfg, browsers: map[*user]*browser.Browser{}, mails: map[string]map[string]bool{}}
	if cfg.Faults != nil {
		r.trial = newTrial(*cfg.Faults, append(slices.Clone(cfg.Others), cfg.Room))
	}
	if err := r.play(ctx); err != nil {
		r.Complaints()
		return err
	}
	return r.summarize()
}

func (r *run) play(ctx context.Context) error {
	r.clock = clock.New(start, clock.Free)
	hold := r.clock.Work()
	defer hold()
	defer r.clock.Stop()
	cfg := fleet.Config{Clock: r.clock, Root: r.Root, Bin: r.Bin, Rooms: append(slices.Clone(r.Others), r.cfg.Room), Awake: r.awake, Log: r.Log, Invocation: r.Invocation}
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
	if r.trial != nil {
		r.trial.faults.Start()
	}
	r.found(ctx)
	if len(r.problems) > 0 {
		return errors.New(r.problems[0])
	}
	for s := range r.cfg.Sessions {
		r.playSession(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.settle(ctx)
	r.checkTables(ctx)
	r.checkMails()
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

// awake reports whether schedules run at a time: when the reminders are due, and when a game
// was finished.
func (r *run) awake(at time.Time) bool {
	return at.Before(r.busy) || at.Hour() == 10 && at.Minute() < 10
}

// wait is the time between two attempts of a request, and attempts their limit, in a run
// with faults.
const (
	wait     = 7 * time.Second
	attempts = 30
)

// call calls the API as a user until it answers, "" for nobody. Without faults, an error of
// the server is returned at once. again reports that an earlier attempt may have taken
// effect. A user whose session has ended signs in again.
func (r *run) call(ctx context.Context, u *user, method, path string, in, out any, header ...string) (code string, again bool, err error) {
	r.requests++
	entered := false
	for n := 1; ; n++ {
		err := r.browser(u).Call(ctx, method, path, in, out, header...)
		refusal, ok := errors.AsType[*fleet.Refusal](err)
		switch {
		case err == nil:
			return "", n > 1, nil
		case ok && refusal.Status == http.StatusUnauthorized && u != nil && !u.deleted && !entered:
			entered = true
			if err := r.signIn(ctx, u); err != nil {
				return "", n > 1, err
			}
			continue
		case ok && refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests:
			return codeOf(refusal), n > 1, nil
		case r.trial == nil || n == attempts || ctx.Err() != nil:
			return "", n > 1, err
		}
		if err := r.until(ctx, r.clock.Now().Add(wait)); err != nil {
			return "", n > 1, err
		}
	}
}

func (r *run) browser(u *user) *browser.Browser {
	if r.browsers[u] == nil {
		r.browsers[u] = browser.New(r.fleet.URL + "/threefc")
	}
	return r.browsers[u]
}

// signIn signs a user in by a mail, again if an answer was lost.
func (r *run) signIn(ctx context.Context, u *user) (err error) {
	for range attempts {
		if err = r.browser(u).SignIn(ctx, u.mail, r.fleet.Mail); err == nil {
			return nil
		}
		if r.trial == nil {
			break
		}
		if err := r.until(ctx, r.clock.Now().Add(15*time.Minute)); err != nil { // five mails an hour
			return err
		}
	}
	return fmt.Errorf("%s cannot sign in: %w", u.name, err)
}

// ask calls the API and records a difference unless the answer has the code, "" for success.
// It reports whether the request took effect.
func (r *run) ask(ctx context.Context, m *match, u *user, method, path string, in, out any, want string, header ...string) bool {
	code, _, err := r.call(ctx, u, method, path, in, out, header...)
	name := "nobody"
	if u != nil {
		name = u.name
	}
	switch {
	case err != nil:
		r.fail(m, "%v", err)
	case code != want:
		r.fail(m, "%s %s of %s: got %s, want %s", method, path, name, orOK(code), orOK(want))
	case want != "":
		r.refused++
	}
	return err == nil && code == ""
}

// keyed is ask with an Idempotency-Key of its own.
func (r *run) keyed(ctx context.Context, m *match, u *user, method, path string, in, out any, want string, header ...string) bool {
	r.key++
	return r.ask(ctx, m, u, method, path, in, out, want, append(header, "Idempotency-Key", fmt.Sprintf("tap-%d", r.key))...)
}

func orOK(code string) string {
	if code == "" {
		return "success"
	}
	return code
}

// fail records a failure of a game, or of the run if m is nil.
func (r *run) fail(m *match, format string, args ...any) {
	text := r.named(fmt.Sprintf(format, args...))
	if m != nil {
		m.fail("%s", text)
	} else if len(r.problems) < 20 {
		r.problems = append(r.problems, text)
	}
}

// named replaces ids that differ between runs by names.
func (r *run) named(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, r.league+"x", "x"), r.season+"x", "x")
	for _, p := range r.players {
		text = strings.ReplaceAll(text, p.id, p.nickname)
	}
	for _, m := range r.games {
		text = strings.ReplaceAll(text, m.id, m.name)
	}
	return ids.ReplaceAllString(text, "{id}")
}

// settle waits until the queues are empty.
func (r *run) settle(ctx context.Context) {
	r.busy = r.clock.Now().Add(5 * time.Hour)
	limit := r.clock.Now().Add(4 * time.Hour)
	for {
		if r.until(ctx, r.clock.Now().Add(6*time.Minute)) != nil { // the outbox is swept every five
			return
		}
		if len(r.unfinished()) == 0 || r.clock.Now().After(limit) {
			break
		}
	}
	r.busy = r.clock.Now()
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

// report writes the line of a game.
func (r *run) report(m *match) {
	var did []string
	for _, k := range slices.Sorted(maps.Keys(m.did)) {
		did = append(did, fmt.Sprintf("%d %s", m.did[k], k))
	}
	s := m.scores()
	line := fmt.Sprintf("%s  ", m.name)
	for _, t := range teams {
		line += fmt.Sprintf("%s %d:%d  ", t, s[t].Scored, s[t].Conceded)
	}
	r.Case(line+strings.Join(did, ", "), m.name, m.problems)
	r.done++
	all := r.cfg.Sessions * r.cfg.Games
	r.Bar(r.done, all, fmt.Sprintf("%d of %d games", r.done, all))
}

func (r *run) summarize() error {
	ok := 0
	for _, m := range r.games {
		if len(m.problems) == 0 {
			ok++
		}
	}
	failed := ok < len(r.games) || len(r.problems) > 0
	if failed || r.trial == nil {
		r.Complaints()
	}
	for _, p := range r.problems {
		r.Printf("FAIL  %s\n", p)
	}
	if r.trial != nil {
		r.trial.tally(r.Report)
	}
	r.Printf("%d of %d games ok; %d goals recorded, %d answers as the oracle says, %d requests (%d refused, as they must be)\n",
		ok, len(r.games), r.goals, r.checked, r.requests, r.refused)
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
