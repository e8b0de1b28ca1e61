// Package replay plays a season of 3FC through the API: two scorekeepers, and a guest who has the PIN of the
// session, score games of three teams on bad networks, tap twice, undo, correct and come too late; an
// administrator accepts and dismisses what came late. Rosters change. Players are claimed and merged, and their
// parents answer by the link of a mail. A scorekeeper is removed, and an account is deleted. The league is private
// for a while, and on a rainy day games are abandoned and postponed. The package compares every score, table,
// answer, page and mail with an oracle that knows only the goals.
package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/threefc/browser"
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

// london is where the league plays.
var london, _ = time.LoadLocation("Europe/London") // the program has the database of time zones

// run is one Run.
type run struct {
	*replay.World
	*world
	cfg Config

	admin    *user
	scorers  []*user // two scorekeepers
	viewer   *user
	guest    *user
	removed  *user // a scorekeeper until the second session
	browsers map[*user]*browser.Browser
	mails    map[string]map[string]bool // that must arrive, by address: what a mail's text contains

	key     int // of the latest request with a key
	goals   int
	checked int // answers that were compared with the oracle
	done    int
}

// Run plays a season. It returns replay.ErrFailed if something differs from the oracle.
func Run(ctx context.Context, cfg Config) error {
	r := &run{
		World:    replay.NewWorld(cfg.Config),
		world:    &world{seed: cfg.Seed},
		cfg:      cfg,
		browsers: map[*user]*browser.Browser{},
		mails:    map[string]map[string]bool{},
	}
	rooms := append(slices.Clone(cfg.Others), cfg.Room)
	r.Trial = replay.NewTrial(cfg.Config, rooms, odds, drawn)
	// Schedules run when the reminders are due, and when a game was finished.
	if err := r.Play(ctx, start, fleet.Config{Rooms: rooms},
		func(at time.Time) bool { return at.In(london).Hour() == 12 && at.Minute() < 10 }, r.play); err != nil {
		return err
	}

	return r.summarize()
}

func (r *run) play(ctx context.Context) error {
	r.Trial.Start()
	r.found(ctx)

	if err := r.Failed(); err != nil {
		return err
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
	r.CheckQueues()

	return ctx.Err()
}

// settle waits until the queues are empty. The outbox is swept every five minutes.
func (r *run) settle(ctx context.Context) {
	r.Settle(ctx, 6*time.Minute, func() bool { return true })
}

// call calls the API as a user until it answers, "" for nobody. A user whose session has
// ended signs in again.
func (r *run) call(ctx context.Context, u *user, method, path string, in, out any, header ...string) (code string, err error) {
	if u != nil && u.guest {
		header = append(header, "Scorer", "pin")
	}

	do := func() error { return r.browser(u).Call(ctx, method, path, in, out, header...) }

	code, _, err = r.Try(ctx, do)
	if code == "invalid_session" && u != nil && !u.deleted && !u.guest {
		if err := r.signIn(ctx, u); err != nil {
			return "", err
		}

		code, _, err = r.Try(ctx, do)
	}

	return code, err
}

func (r *run) browser(u *user) *browser.Browser {
	if r.browsers[u] == nil {
		r.browsers[u] = browser.New(r.Fleet.URL + "/threefc")
	}

	return r.browsers[u]
}

// signIn signs a user in by a mail, again if an answer was lost.
func (r *run) signIn(ctx context.Context, u *user) (err error) {
	for range replay.Attempts {
		if err = r.browser(u).SignIn(ctx, u.mail, r.Fleet.Mail); err == nil {
			return nil
		}

		if r.Trial == nil {
			break
		}

		if err := r.Until(ctx, r.Clock.Now().Add(15*time.Minute)); err != nil { // five mails an hour
			return err
		}
	}

	return fmt.Errorf("%s cannot sign in: %w", u.name, err)
}

// ask calls the API and records a difference unless the answer has the code, "" for success.
// It reports whether the request took effect.
func (r *run) ask(ctx context.Context, m *match, u *user, method, path string, in, out any, want string, header ...string) bool {
	code, err := r.call(ctx, u, method, path, in, out, header...)

	name := "nobody"
	if u != nil {
		name = u.name
	}

	if wrong := r.Judge(method+" "+path+" of "+name, code, want, err); wrong != "" {
		r.fail(m, "%s", wrong)
	}

	return err == nil && code == ""
}

// keyed is ask with an Idempotency-Key of its own.
func (r *run) keyed(ctx context.Context, m *match, u *user, method, path string, in, out any, want string, header ...string) bool {
	r.key++
	return r.ask(ctx, m, u, method, path, in, out, want, append(header, "Idempotency-Key", fmt.Sprintf("tap-%d", r.key))...)
}

// fail records a failure of a game, or of the run if m is nil.
func (r *run) fail(m *match, format string, args ...any) {
	text := r.named(fmt.Sprintf(format, args...))
	if m != nil {
		m.fail("%s", text)
	} else {
		r.Fail(text)
	}
}

// named replaces ids that differ between runs by names.
func (r *run) named(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, r.league+"x", "x"), r.season+"x", "x")
	for _, p := range slices.Concat(r.players, r.merged) {
		text = strings.ReplaceAll(text, p.id, p.nickname)
	}

	for _, m := range r.games {
		text = strings.ReplaceAll(text, m.id, m.name)
	}

	return drawn.ReplaceAllString(text, "{id}")
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

	return r.Summarize(ok == len(r.games), "%d of %d games ok; %d goals recorded, %d answers as the oracle says, %d requests (%d refused, "+
		"as they must be)",
		ok, len(r.games), r.goals, r.checked, r.Requests, r.Refused)
}
