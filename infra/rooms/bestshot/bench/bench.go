// Package bench measures Best Shot: a leaderboard from the cache and from the database, the settlement
// of a match, and the rebuilding of a leaderboard. It compares each with a query of the plain driver. A
// settlement is compared with its statement settlement.SettleRange alone, for all guesses at once: it
// writes the ledger and the scoreboards. The settlement also takes locks, commits each range, records
// itself, and writes the first page of the leaderboard into the cache.
//
// Scale measures how the room grows with the number of members.
package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"matchday/infra/local/databases"
	"matchday/infra/sim/account"
	"matchday/infra/sim/postgres"
	"matchday/infra/sim/redis"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

//go:embed bench.sql
var file string

// sql are the statements of bench.sql.
var sql = pg.MustParse[struct {
	AddTournament, AddRule, AddRound, AddTeams, AddMembers, AddPoints, AddMatches, AddGuesses, AddLedger, SumPoints,
	AddRoundPoints, CountLedger, SumLedger, ListLeaderboard, GetMember, LongestTransaction, TouchTournament, AddLeague,
	AddOpenMatch string
}](file)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{
	Run:      func(ctx context.Context) ([]measure.Row, any, error) { return run(ctx, 10_000, 15) },
	Scale:    scale,
	Binaries: []app.Function{guess.PutGuessFunction()},
}

// matches is the number of matches in the ledger: a leaderboard of 10,000 members is rebuilt from
// 100,000 rows.
const matches = 10

// All matches are of one round and have the same result.
const (
	round     = "1"
	homeScore = 2
	awayScore = 1
)

// world is a database and a cache with a tournament.
type world struct {
	engine     *postgres.Engine
	cache      *redis.Server
	db         *pgx.Conn // as the superuser
	env        app.Env
	tournament string
	now        time.Time
	page       int                // bytes of a page of the leaderboard
	seconds    map[string]float64 // of what is measured, without the plain driver
}

// cachedPage is a figure that the cost model takes.
const cachedPage = "a page from the cache"

// run measures a tournament with a number of members. Each figure is the median of a number of runs.
func run(ctx context.Context, members, runs int) ([]measure.Row, any, error) {
	measure.Say("a tournament of Best Shot with %d members", members)

	w, err := newWorld(ctx, members)
	if err != nil {
		return nil, nil, err
	}
	defer w.close(ctx)

	rows, err := w.measure(ctx, members, runs)
	counters := map[string]any{
		"measured": time.Now().UTC().Format(time.DateOnly),
		"members":  members,
		"page":     w.page,
		"seconds":  w.seconds,
	}

	return rows, counters, err
}

func (w *world) measure(ctx context.Context, members, runs int) (rows []measure.Row, err error) {
	title := "Best Shot, " + measure.Counted(members, "member") + ", "
	add := func(name string, each func() error, plainName string, plain func() error, n int) error {
		got, err := w.median(each, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}

		beside, err := w.median(plain, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", plainName, err)
		}

		w.seconds[name] = got.Wall.Seconds()
		r := measure.RowOf(title+name, got, 0)
		r.Calls = ""
		r.Compared = fmt.Sprintf("× %.1f %s", measure.Share(got.Wall, beside.Wall), plainName)

		r.Details = fmt.Sprintf("%s by %s; fastest %s", measure.Short(beside.Wall), plainName, measure.Short(got.Fastest))
		if n > 1 {
			r.Details += "; " + measure.Rate(float64(n), got.Wall) + " rows"
		}

		rows = append(rows, r)

		return nil
	}

	boards, err := tournament.Open(ctx, w.env)
	if err != nil {
		return nil, err
	}
	defer boards.DB.Close()

	read := func() error {
		out, err := boards.ListLeaderboard(ctx, &tournament.ListLeaderboard{ByID: tournament.ByID{TournamentID: w.tournament}})
		if err == nil && len(out.Body.Data) != min(members, view.PageSize) {
			err = fmt.Errorf("a page of %d members", len(out.Body.Data))
		}

		if err != nil || w.page > 0 {
			return err
		}

		text, err := json.Marshal(out.Body)
		w.page = len(text)

		return err
	}

	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{w.cache.Addr()}, DisableIdentity: true})
	defer cluster.Close()

	key := view.LeaderboardKey(w.tournament)

	if err := add(cachedPage, read, "HMGET of go-redis",
		func() error { return cluster.HMGet(ctx, key, "version", "0").Err() }, 1); err != nil {
		return nil, err
	}

	cold := func() error {
		w.cache.FlushAll()
		return read()
	}
	if err := add("a page of a cold cache", cold, "the query of pgx", w.leaderboard(ctx), 1); err != nil {
		return nil, err
	}

	w.cache.Close()

	asked := func() error {
		w.now = w.now.Add(6 * time.Second) // a failed cache is left alone for 5 s, and asked again
		return read()
	}
	if err := add("a page whose reader finds the cache closed", asked, "the query of pgx", w.leaderboard(ctx), 1); err != nil {
		return nil, err
	}

	if err := add("a page while the cache is left alone", read, "the query of pgx", w.leaderboard(ctx), 1); err != nil {
		return nil, err
	}

	if err := w.cache.Restart(); err != nil {
		return nil, err
	}

	w.now = w.now.Add(time.Minute) // the cache is tried again

	admin, err := settlement.OpenAdmin(ctx, w.env)
	if err != nil {
		return nil, err
	}
	defer admin.DB.Close()

	hydrate := func() error {
		out, err := admin.HydrateScoreboard(ctx, &settlement.HydrateOne{TournamentID: w.tournament})
		if err == nil && (out.Body.Tournaments[0].Members != members || out.Body.Tournaments[0].Repaired != 0) {
			err = fmt.Errorf("rebuilt %+v", out.Body.Tournaments)
		}

		return err
	}

	ledger := members * matches
	if err := w.expectLedger(ctx, ledger); err != nil {
		return nil, err
	}

	sums := w.query(ctx, sql.SumLedger)
	if err := add("a leaderboard rebuilt from "+measure.Counted(ledger, "row"), hydrate, "the sums of pgx", sums, ledger); err != nil {
		return nil, err
	}

	worker, err := settlement.Open(ctx, w.env)
	if err != nil {
		return nil, err
	}
	defer worker.DB.Close()

	// Each is run once more than it is measured.
	if err := w.addMatches(ctx, matches+1, matches+2*(runs+1), false); err != nil {
		return nil, err
	}

	n := matches
	settle := func() error {
		n++

		return worker.SettleMatch(ctx, settlement.MatchFinished{
			EventType: settlement.EventType, InternalStatus: settlement.Ended, MatchID: w.match(n), TournamentID: w.tournament,
			FinishedAt: w.now.Add(time.Duration(n) * time.Second), Provider: "bench", ProviderStatus: "finished/100", DetectedAt: w.now,
		})
	}

	plain := func() error {
		n++
		_, err := w.db.Exec(ctx, settlement.SettleRange, w.match(n), w.tournament, 1, homeScore, awayScore, 1, 1, false, round, true, nil,
			"00000000-0000-0000-0000-000000000000", members+1)

		return err
	}
	if err := add("a match settled", settle, "its largest statement by pgx", plain, members); err != nil {
		return nil, err
	}

	return rows, w.expectLedger(ctx, members*n)
}

// expectLedger returns an error if the ledger has another number of rows. It has one for each guess of
// a settled match.
func (w *world) expectLedger(ctx context.Context, want int) error {
	var got int
	if err := w.db.QueryRow(ctx, sql.CountLedger).Scan(&got); err != nil {
		return err
	}

	if got != want {
		return fmt.Errorf("the ledger has %d rows, want %d", got, want)
	}

	return nil
}

// median measures n runs of a call, after one that is not measured.
func (w *world) median(do func() error, n int) (measure.Usage, error) {
	var all []measure.Usage

	for range n + 1 {
		u, err := measure.Run(do)
		if err != nil {
			return u, err
		}

		all = append(all, u)
	}

	return measure.MedianUsage(all[1:]), nil
}

// newWorld starts the engines, and stores a tournament with settled matches.
func newWorld(ctx context.Context, members int) (*world, error) {
	w, err := start(ctx)
	if err != nil {
		return nil, err
	}

	if err := w.fill(ctx, members); err != nil {
		w.close(ctx)
		return nil, err
	}

	return w, nil
}

// start starts the engines.
func start(ctx context.Context) (w *world, err error) {
	w = &world{now: time.Date(2026, 6, 6, 20, 0, 0, 0, time.UTC), tournament: "00000000-0000-4000-8000-000000000001",
		seconds: map[string]float64{}}
	if w.engine, err = postgres.Start(ctx, ""); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close(ctx)
		}
	}()

	const name = "bench"
	if err = databases.Create(ctx, w.engine, tables.DB, name); err != nil {
		return w, err
	}

	now := func() time.Time { return w.now }
	if w.cache, err = redis.Start(now); err != nil {
		return w, err
	}

	settings := map[string]string{tables.DB.Env(): w.engine.URL(tables.Worker.Role, name)} // for all functions

	for _, f := range bestshot.Room().Functions {
		for _, l := range f.Caches {
			settings[l.Env()] = "redis://" + w.cache.Addr()
		}
	}

	sleep := func(ctx context.Context, _ time.Time) error { return ctx.Err() }

	w.env = app.Env{
		AWS:      aws.Config{Region: account.Region},
		Stage:    spec.Local,
		Queues:   "http://localhost/",
		Clock:    app.Clock{Now: now, Sleep: sleep},
		Patience: 100,
		Setting:  func(name string) string { return settings[name] },
	}
	w.db, err = pgx.Connect(ctx, w.engine.URL("", name))

	return w, err
}

// fill stores a tournament with settled matches.
func (w *world) fill(ctx context.Context, members int) error {
	do := func(statement string, args ...any) func() error {
		return func() error {
			_, err := w.db.Exec(ctx, statement, args...)
			return err
		}
	}

	for _, step := range []func() error{
		do(sql.AddTournament, w.tournament, round),
		do(sql.AddRule, w.tournament),
		do(sql.AddRound, w.tournament, round),
		do(sql.AddTeams),
		do(sql.AddMembers, members),
		do(sql.AddPoints, w.tournament),
		func() error { return w.addMatches(ctx, 1, matches, true) },
		do(sql.AddLedger, w.tournament),
		do(sql.SumPoints),
		do(sql.AddRoundPoints, round),
		do("ANALYZE"),
	} {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

// match returns the id of match n.
func (w *world) match(n int) string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) }

// addMatches stores matches that have ended, each a second after the one before, with a guess of
// every member.
func (w *world) addMatches(ctx context.Context, from, to int, settled bool) error {
	if _, err := w.db.Exec(ctx, sql.AddMatches, w.tournament, round, from, to, w.now, homeScore, awayScore, settled); err != nil {
		return err
	}

	_, err := w.db.Exec(ctx, sql.AddGuesses, from, to)

	return err
}

// leaderboard reads a page of the leaderboard, by pgx alone.
func (w *world) leaderboard(ctx context.Context) func() error {
	return w.query(ctx, sql.ListLeaderboard)
}

func (w *world) query(ctx context.Context, statement string) func() error {
	return func() error {
		rows, err := w.db.Query(ctx, statement, w.tournament)
		if err != nil {
			return err
		}

		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				return err
			}
		}

		return rows.Err()
	}
}

func (w *world) close(ctx context.Context) {
	if w.db != nil {
		w.db.Close(ctx)
	}

	if w.cache != nil {
		w.cache.Close()
	}

	w.engine.Stop()
}
