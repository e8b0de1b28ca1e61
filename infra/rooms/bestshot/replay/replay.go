// Package replay plays seasons of football as tournaments of Best Shot. Each openfootball file is a
// tournament of one of the simulated providers, which have the same events, with mistakes by the seed. Forty members guess in time,
// late, twice or not at all, some of them in leagues, and administrators correct results. Matches begin early, late
// and twice. Every second tournament has the rule kicktipp with jokers. Each has questions, also about who advances
// in its last match. An oracle knows the accepted guesses and the answers of the provider. Leaderboards, rounds, standings, guesses,
// the ledger and the cache are compared with it.
package replay

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/pg"
)

//go:embed replay.sql
var file string

// sql are the statements of replay.sql.
var sql = pg.MustParse[struct {
	FindMatch, FindTeams, GetGuess, CountUnsettled, CountSettlements, ListPoints, SumLedger, SumRoundPoints string
}](file)

// Config is the configuration of a replay.
type Config struct {
	replay.Config
	Room     fleet.Room // Best Shot
	Provider func() *football.Server
}

// start is when the members register.
var start = time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)

// run is one Run.
type run struct {
	*replay.World
	*world
	cfg   Config
	db    *pgx.Conn
	cache *redis.Client
	when  spans

	steps   []*step
	guessed int // guesses that were accepted
	probed  int // kick-offs at which a guess was tried to the millisecond
	done    int

	stopped, cold bool // whether the database, and the cache, is stopped, in a run with faults
	outages       int
}

// Run plays the files of cfg.Folder. It returns replay.ErrFailed if something differs from the
// oracle.
func Run(ctx context.Context, cfg Config) error {
	w, err := newWorld(cfg)
	if err != nil {
		return err
	}

	r := &run{World: replay.NewWorld(cfg.Config), world: w, cfg: cfg}
	rooms := append(slices.Clone(cfg.Others), cfg.Room)

	if len(w.skipped) > 0 {
		r.Printf("skipped, as they have neither matches nor rounds: %s\n", strings.Join(w.skipped, ", "))
	}

	r.Trial = replay.NewTrial(cfg.Config, rooms, odds, drawn)
	if err := r.Play(ctx, start, fleet.Config{Rooms: rooms, Expiry: 30 * 24 * time.Hour},
		func(t time.Time) bool { return r.when.awake(t) }, r.play); err != nil {
		return err
	}

	return r.summarize()
}

func (r *run) play(ctx context.Context) error {
	if err := r.connect(ctx); err != nil {
		return err
	}
	defer func() { r.db.Close(ctx) }()

	r.cache = redis.NewClient(&redis.Options{
		Addr:            r.Fleet.CacheAddress(tables.Cache.Name),
		DisableIdentity: true,
		MaxRetries:      -1,
		DialTimeout:     time.Minute,
		ReadTimeout:     time.Minute,
	})
	defer r.cache.Close()

	for _, c := range r.cups {
		if !c.done {
			if err := c.add(r.cfg.Provider()); err != nil {
				c.fail("%v", err)
				c.done = true
			}
		}
	}

	r.when = r.spans()
	r.found(ctx)

	if err := r.Failed(); err != nil {
		return err
	}

	r.plan(ctx)

	if err := r.misbehave(ctx); err != nil {
		return err
	}

	for len(r.steps) > 0 {
		next := r.steps[0]

		r.steps = r.steps[1:]
		if err := r.Until(ctx, next.at); err != nil {
			return err
		}

		next.do()

		if ctx.Err() != nil {
			return ctx.Err()
		}
	}

	r.settle(ctx)
	r.checkQueues(ctx)

	return ctx.Err()
}

// at adds a step. A step whose time has passed is the next.
func (r *run) at(t time.Time, do func()) {
	s := &step{t, 0, do}
	i, _ := slices.BinarySearchFunc(r.steps, s, func(a, b *step) int {
		if a.at.Equal(b.at) {
			return -1 // after those of the same time
		}

		return byTime(a, b)
	})
	r.steps = slices.Insert(r.steps, i, s)
}

// settle waits until the queues are empty and all matches that have ended are settled.
func (r *run) settle(ctx context.Context) {
	r.Settle(ctx, 6*time.Minute, func() bool {
		if r.Trial != nil {
			r.replayDeadLetters(ctx)
		}

		n, err := value[int](ctx, r, sql.CountUnsettled)

		return err == nil && n == 0
	})
}

// call calls the API as a user until it answers.
func (r *run) call(ctx context.Context, user, method, path string, in, out any) (code string, again bool, err error) {
	return r.Try(ctx, func() error { return r.Fleet.Call(ctx, user, method, "/bestshot/api/v2"+path, in, out) })
}

// ask calls the API, and records a difference if the answer has another code than want, "" for success.
// It reports whether the request has succeeded.
func (r *run) ask(ctx context.Context, c *cup, user, method, path string, in, out any, want string) bool {
	code, _, err := r.call(ctx, user, method, path, in, out)
	if wrong := r.Judge(method+" "+path, code, want, err); wrong != "" {
		r.fail(c, "%s", wrong)
	}

	return err == nil && code == ""
}

// fail records a failure of a cup, or of the run if c is nil.
func (r *run) fail(c *cup, format string, args ...any) {
	text := r.named(fmt.Sprintf(format, args...))
	if c == nil {
		r.Fail(text)
		return
	}

	c.fail("%s: %s", r.Clock.Now().Format("2006-01-02 15:04"), text)
}

// report writes the line of a cup.
func (r *run) report(ctx context.Context, c *cup) {
	type tally struct{ Matches, Settled, Corrections int }

	n, err := one[tally](ctx, r, sql.CountSettlements, c.id)
	if err != nil {
		c.fail("%v", err)
	}

	leader := "nobody"
	if board := c.board(r.Clock.Now()); len(board) > 0 {
		leader = fmt.Sprintf("%s with %d", board[0].NickName, board[0].Points)
	}

	skipped := ""
	if c.skipped > 0 {
		skipped = fmt.Sprintf(", %d moments without quiet", c.skipped)
	}

	r.Case(fmt.Sprintf("%-22s %3d matches, %3d settled, %2d corrections, %d members, leader %s%s",
		c.file, n.Matches, n.Settled, n.Corrections, len(c.board(r.Clock.Now())), leader, skipped), c.file, c.problems)
	c.done = true
	r.done++
	r.Bar(r.done, len(r.cups), fmt.Sprintf("%d of %d files", r.done, len(r.cups)))
}

func (r *run) summarize() error {
	ok := 0

	for _, c := range r.cups {
		if len(c.problems) == 0 && c.id != "" {
			ok++
		} else if c.id == "" {
			r.Case(c.file, c.file, c.problems)
		}
	}

	var did []string

	counts := r.cfg.Provider().Counts()
	for _, k := range append(football.OfEvents(), football.OfRequests()...) {
		if counts[k] > 0 {
			did = append(did, fmt.Sprintf("%d %s", counts[k], k))
		}
	}

	r.Printf("the provider: %s\n", strings.Join(did, ", "))

	if r.Trial != nil {
		r.Printf("the database or the cache was down %d times\n", r.outages)
	}

	return r.Summarize(ok == len(r.cups), "%d of %d files ok; %d guesses accepted, %d requests refused, as they must be, %d kick-offs "+
		"tried to the millisecond",
		ok, len(r.cups), r.guessed, r.Refused, r.probed)
}

// value returns the only column of the first row of a query.
func value[T any](ctx context.Context, r *run, statement string, args ...any) (v T, err error) {
	rows, err := r.query(ctx, statement, args...)
	if err != nil {
		return v, err
	}

	return pgx.CollectOneRow(rows, pgx.RowTo[T])
}

// one returns the first row of a query.
func one[T any](ctx context.Context, r *run, statement string, args ...any) (v T, err error) {
	rows, err := r.query(ctx, statement, args...)
	if err != nil {
		return v, err
	}

	return pgx.CollectOneRow(rows, pgx.RowToStructByName[T])
}

// connect connects to the room's database, as the superuser.
func (r *run) connect(ctx context.Context) (err error) {
	db, err := pgx.Connect(ctx, r.Fleet.SQLURL(tables.DB, ""))
	if err == nil {
		r.db = db
	}

	return err
}

// query runs a query. It connects again after a failure of the database.
func (r *run) query(ctx context.Context, statement string, args ...any) (pgx.Rows, error) {
	for r.stopped {
		if err := r.Until(ctx, r.Clock.Now().Add(replay.Wait)); err != nil {
			return nil, err
		}
	}

	if err := r.db.Ping(ctx); err != nil {
		r.db.Close(ctx)

		if err := r.connect(ctx); err != nil {
			return nil, err
		}
	}

	return r.db.Query(ctx, statement, args...)
}

// administrator asks as an administrator.
func (r *run) administrator(ctx context.Context, c *cup, method, path string, in, out any, want string) bool {
	return r.ask(ctx, c, fleet.Administrator, method, "/admin"+path, in, out, want)
}

const post, get = http.MethodPost, http.MethodGet
