package bench

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sqs"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/view"
)

// The targets of a settlement at 1,000,000 members, from "A million members" of the design: a vCPU is
// about 4 ACU.
const (
	maxSettling    = 5 * time.Minute
	maxTransaction = 2 * time.Second
	maxWait        = 2 * time.Second
	guessesPerSec  = 3000
	maxGuess       = 50 * time.Millisecond
	maxPlanning    = 2 * time.Minute // of the notices of all members
)

// The matches of a grown tournament: the first is settled before anything is measured, so that all
// members are in the leaderboard.
const (
	firstMatch = 1
	finalMatch = 2
	openMatch  = 3
	leagueID   = "30000000-0000-4000-8000-000000000001"
	leagueSize = 100
)

// scale measures tournaments of growing size, up to a number of members.
func scale(ctx context.Context, members int) (rows []measure.Row, err error) {
	sizes := []int{members}
	for n := members / 10; n >= 10_000; n /= 10 {
		sizes = append(sizes, n)
	}

	slices.Sort(sizes)

	for _, n := range sizes {
		some, err := grow(ctx, n)
		if err != nil {
			return nil, err
		}

		rows = append(rows, some...)
	}

	return rows, nil
}

// grow measures a tournament of a number of members: its final settled, corrected, void, and under
// another rule, a new nickname, pages and places, and guesses.
func grow(ctx context.Context, members int) (rows []measure.Row, err error) {
	measure.Say("a final of Best Shot with %d members", members)

	w, err := start(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)

	if err := w.seed(ctx, members); err != nil {
		return nil, err
	}

	title := measure.Counted(members, "member") + ", "

	worker, err := settlement.OpenWith(ctx, w.env, settlement.RangeSize, members) // one message settles all
	if err != nil {
		return nil, err
	}
	defer worker.DB.Close()

	settle := func(n int) error {
		return worker.SettleMatch(ctx, settlement.MatchFinished{
			EventType: settlement.EventType, InternalStatus: settlement.Ended, MatchID: w.match(n), TournamentID: w.tournament,
			FinishedAt: w.now.Add(time.Duration(n) * time.Second), Provider: "bench", ProviderStatus: "finished/100", DetectedAt: w.now,
		})
	}
	if err := settle(firstMatch); err != nil {
		return nil, err
	}

	if _, err := w.db.Exec(ctx, "ANALYZE"); err != nil {
		return nil, err
	}

	final := []any{w.match(finalMatch)}

	for _, step := range []struct {
		name, change string
		args         []any
		guesses      int
	}{
		{"the final settled", "SELECT", nil, members},
		{"the final corrected", "UPDATE match SET home_score = 0, scoreboard_applied_at = NULL WHERE id = $1", final, members},
		{"the final under another rule", "UPDATE match SET scoreboard_applied_at = NULL WHERE id = $1", final, members},
		{"the final void", "UPDATE match SET status = 'void', scoreboard_applied_at = NULL WHERE id = $1", final, members},
	} {
		if strings.HasSuffix(step.name, "rule") {
			if err := w.exec(ctx, "INSERT INTO rule SELECT tournament_id, 2, 2, 0, 0, 1, 1, now(), true FROM rule"); err != nil {
				return nil, err
			}

			if err := w.exec(ctx, "UPDATE tournament SET rule_version = 2"); err != nil {
				return nil, err
			}
		}

		if err := w.exec(ctx, step.change, step.args...); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}

		row, err := w.settled(ctx, title+step.name, step.guesses, func() error { return settle(finalMatch) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}

		rows = append(rows, row)
	}

	if err := w.checkHistogram(ctx); err != nil {
		return nil, err
	}

	told, err := w.notices(ctx, title, members)
	if err != nil {
		return nil, err
	}

	rows = append(rows, told...)

	reads, err := w.reads(ctx, title, members)
	if err != nil {
		return nil, err
	}

	row, err := w.guesses(ctx, title, members)

	return append(append(rows, reads...), row), err
}

func (w *world) exec(ctx context.Context, statement string, args ...any) error {
	_, err := w.db.Exec(ctx, statement, args...)
	return err
}

// seed stores a tournament, with a guess of each member for the first match and the final.
func (w *world) seed(ctx context.Context, members int) error {
	for _, step := range []func() error{
		func() error { return w.exec(ctx, sql.AddTournament, w.tournament, nil) },
		func() error { return w.exec(ctx, sql.AddRule, w.tournament) },
		func() error { return w.exec(ctx, sql.AddRound, w.tournament, round) },
		func() error { return w.exec(ctx, sql.AddTeams) },
		func() error { return w.exec(ctx, sql.AddMembers, members) },
		func() error { return w.addMatches(ctx, firstMatch, finalMatch, false) },
		func() error {
			return w.exec(ctx, sql.AddOpenMatch, w.match(openMatch), time.Now().Add(24*time.Hour), w.match(finalMatch))
		},
		func() error { return w.exec(ctx, sql.AddLeague, w.tournament, leagueID, leagueSize) },
		func() error { return w.exec(ctx, "ANALYZE") },
	} {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

// notices measures how long all members are found who are told of their points, and those who are reminded of
// the open match. The phones get them from a queue.
func (w *world) notices(ctx context.Context, title string, members int) (rows []measure.Row, err error) {
	queues := sqs.New(clock.New(time.Now(), 1), "http://queues")
	defer queues.Close()

	server := httptest.NewServer(queues)
	defer server.Close()

	if err := queues.Create(sqs.Queue{Name: notice.NoticeQueue.Name, Visibility: time.Minute}); err != nil {
		return nil, err
	}

	env := w.env
	env.AWS, env.Queues = dynamodbsim.Config(server.URL), queues.URL("")

	s, err := notice.OpenReminders(ctx, env)
	if err != nil {
		return nil, err
	}

	kickOff := func(at time.Time) error {
		return w.exec(ctx, "UPDATE match SET date = $2 WHERE id = $1", w.match(openMatch), at)
	}

	for _, step := range []struct {
		name    string
		kickOff time.Time // of the open match
	}{{"told of their points", w.now.Add(48 * time.Hour)}, {"reminded", w.now.Add(12 * time.Hour)}} {
		if err := kickOff(step.kickOff); err != nil {
			return nil, err
		}

		spent := postgresCPU()

		used, err := measure.Run(func() error { return s.Remind(ctx) })
		if err != nil {
			return nil, err
		}

		spent = postgresCPU() - spent

		r := measure.RowOf(title+step.name, used, 0)
		r.Calls, r.Target, r.Met = "", "2 min", used.Wall <= maxPlanning
		r.Compared = measure.Rate(float64(members), used.Wall) + " members"
		r.Details = measure.Short(spent/time.Duration(members)) + " of CPU a member in PostgreSQL"
		rows = append(rows, r)
	}

	return rows, kickOff(time.Now().Add(24 * time.Hour)) // guesses go by the clock of the machine
}

// settled measures a settlement, its longest transaction, and how long another writer of the tournament
// waits meanwhile.
func (w *world) settled(ctx context.Context, name string, guesses int, settle func() error) (measure.Row, error) {
	watched, stop := context.WithCancel(ctx)

	var (
		wait sync.WaitGroup
		// In seconds.
		longest, waited float64
		failed          [2]error
	)

	watch := func(i int, each func(*pgx.Conn) error) error {
		c, err := pgx.Connect(ctx, w.db.Config().ConnString())
		if err != nil {
			return err
		}

		wait.Go(func() {
			defer c.Close(ctx)

			for watched.Err() == nil && failed[i] == nil {
				failed[i] = each(c)
				time.Sleep(20 * time.Millisecond)
			}
		})

		return nil
	}

	defer wait.Wait()
	defer stop()

	if err := watch(0, func(c *pgx.Conn) error {
		var seconds float64

		err := c.QueryRow(ctx, sql.LongestTransaction).Scan(&seconds)
		longest = max(longest, seconds)

		return err
	}); err != nil {
		return measure.Row{}, err
	}

	if err := watch(1, func(c *pgx.Conn) error {
		began := time.Now()
		_, err := c.Exec(ctx, sql.TouchTournament, w.tournament)
		waited = max(waited, time.Since(began).Seconds())

		return err
	}); err != nil {
		return measure.Row{}, err
	}

	spent := postgresCPU()
	used, err := measure.Run(settle)
	spent = postgresCPU() - spent

	stop()
	wait.Wait()

	if err := errors.Join(err, failed[0], failed[1]); err != nil {
		return measure.Row{}, err
	}

	r := measure.RowOf(name, used, 0)
	r.Calls = ""
	r.Target = "5 min"
	r.Met = used.Wall <= maxSettling && longest <= maxTransaction.Seconds() && waited <= maxWait.Seconds()
	r.Compared = measure.Rate(float64(guesses), used.Wall) + " guesses"
	r.Details = fmt.Sprintf("%s of CPU a guess in PostgreSQL; longest transaction %s, longest wait of another writer %s",
		measure.Short(spent/time.Duration(guesses)), seconds(longest), seconds(waited))

	return r, nil
}

func seconds(s float64) string { return measure.Short(time.Duration(s * float64(time.Second))) }

// postgresCPU is the CPU time of all processes of PostgreSQL on this machine, 0 where it is not known.
func postgresCPU() (sum time.Duration) {
	const tick = 10 * time.Millisecond // USER_HZ of Linux is 100

	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, err := os.ReadFile(f)

		_, after, found := strings.Cut(string(text), "(postgres) ")
		if err != nil || !found {
			continue
		}

		fields := strings.Fields(after) // from the third field of proc(5) on
		if len(fields) < 13 {
			continue
		}

		for _, n := range fields[11:13] { // utime and stime
			ticks, _ := strconv.ParseInt(n, 10, 64)
			sum += time.Duration(ticks) * tick
		}
	}

	return sum
}

// checkHistogram returns an error if the histogram is not that of the scoreboard.
func (w *world) checkHistogram(ctx context.Context) error {
	var wrong int

	const differ = `
SELECT count(*)
FROM scoreboard_points h
FULL JOIN (SELECT score(points, tie) AS score, count(*) AS members FROM tournament_scoreboard GROUP BY 1) c USING (score)
WHERE h.members IS DISTINCT FROM c.members`
	if err := w.db.QueryRow(ctx, differ).Scan(&wrong); err != nil || wrong == 0 {
		return err
	}

	return fmt.Errorf("%d scores have another number of members than the histogram", wrong)
}

// runs is how often a read is measured.
const runs = 200

// reads measures pages and places of a leaderboard, from the database, and a new nickname.
func (w *world) reads(ctx context.Context, title string, members int) (rows []measure.Row, err error) {
	boards, err := tournament.Open(ctx, w.env)
	if err != nil {
		return nil, err
	}
	defer boards.DB.Close()

	tables, err := league.OpenTables(ctx, w.env)
	if err != nil {
		return nil, err
	}
	defer tables.DB.Close()

	member := func(place int) (id, cursor string, err error) {
		var name string
		var points, tie int

		err = w.db.QueryRow(ctx, sql.GetMember, w.tournament, place).Scan(&id, &name, &points, &tie)
		cursor = fmt.Sprintf("%d_%s_%s", -(int64(points)*100_000_000 + int64(tie)), id, base64.RawURLEncoding.EncodeToString([]byte(name)))

		return id, cursor, err
	}

	pages := []struct {
		name  string
		place int
	}{{"the first page", 0}, {"the page in the middle", members/2 - 1}, {"the last page", members - view.PageSize - 1}}

	for _, p := range pages {
		cursor := ""
		if p.place > 0 {
			if _, cursor, err = member(p.place); err != nil {
				return nil, err
			}
		}

		row, err := w.often(title+p.name, func() error {
			w.cache.FlushAll()

			out, err := boards.Leaderboard(ctx, w.tournament, cursor)
			if err == nil && len(out.Body.Data) != view.PageSize {
				err = fmt.Errorf("a page of %d members", len(out.Body.Data))
			}

			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}

		bytes := 0
		for _, key := range w.cache.Keys() {
			if fields, err := w.cache.HKeys(key); err == nil {
				for _, f := range fields {
					bytes += len(w.cache.HGet(key, f))
				}
			}
		}

		row.Details += fmt.Sprintf("; %s bytes to the cache", measure.Grouped(float64(bytes)))
		rows = append(rows, row)
	}

	id, _, err := member(members / 3)
	if err != nil {
		return nil, err
	}

	names := 0

	for _, r := range []struct {
		name string
		read func() error
	}{
		{"the own rank", func() error { _, _, err := view.PlaceOf(ctx, boards.DB, w.tournament, id); return err }},
		{"the page around a member", func() error { _, err := boards.LeaderboardAround(ctx, w.tournament, id); return err }},
		{"a league of 100", func() error {
			w.cache.FlushAll()
			_, err := tables.LeagueTable(ctx, view.Table{LeagueID: leagueID}, "")

			return err
		}},
		{"a new nickname", func() error {
			names++
			return w.exec(ctx, "UPDATE member SET nick_name = $2 WHERE id = $1", id, fmt.Sprint("Renamed ", names))
		}},
	} {
		row, err := w.often(title+r.name, r.read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}

		rows = append(rows, row)
	}

	return rows, nil
}

// often measures a call many times: its median, and the slowest of a hundred.
func (w *world) often(name string, call func() error) (measure.Row, error) {
	var (
		all   []measure.Usage
		walls []time.Duration
	)

	for range runs {
		u, err := measure.Run(call)
		if err != nil {
			return measure.Row{}, err
		}

		all, walls = append(all, u), append(walls, u.Wall)
	}

	slices.Sort(walls)

	r := measure.RowOf(name, measure.MedianUsage(all), 0)
	r.Calls = ""
	r.Details = "p99 " + measure.Short(walls[len(walls)*99/100])

	return r, nil
}

// guesses measures guesses of different members over ten connections.
func (w *world) guesses(ctx context.Context, title string, members int) (measure.Row, error) {
	const (
		conns = 10
		each  = 1500
	)

	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		walls  []time.Duration
		failed error
	)

	used, err := measure.Run(func() error {
		for n := range conns {
			wait.Go(func() {
				took, err := w.guessOften(ctx, n*each, each, members)

				mu.Lock()
				defer mu.Unlock()

				walls, failed = append(walls, took...), errors.Join(failed, err)
			})
		}

		wait.Wait()

		return failed
	})
	if err != nil {
		return measure.Row{}, err
	}

	slices.Sort(walls)

	p99 := walls[len(walls)*99/100]
	r := measure.RowOf(title+"guesses over 10 connections", used.Per(conns*each), 0)
	r.Calls, r.Target = "1", fmt.Sprintf("%d/s", guessesPerSec)
	r.Met = float64(conns*each)/used.Wall.Seconds() >= guessesPerSec && p99 <= maxGuess
	r.Compared = measure.Rate(conns*each, used.Wall)
	r.Details = "p99 " + measure.Short(p99)

	return r, nil
}

// guessOften stores guesses of n members, from one on, and returns how long each took.
func (w *world) guessOften(ctx context.Context, from, n, members int) (took []time.Duration, err error) {
	c, err := pgx.Connect(ctx, w.db.Config().ConnString())
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)

	for i := range n {
		user := fmt.Sprint("user", (from+i)%members+1)
		began := time.Now()

		rows, _ := c.Query(ctx, guess.Put, []string{w.match(openMatch)}, user, []int{i % 4}, []int{i % 3})
		stored := 0

		for rows.Next() {
			stored++
		}

		if err := rows.Err(); err != nil {
			return nil, err
		}

		if stored != 1 {
			return nil, fmt.Errorf("%d rows for a guess", stored)
		}

		took = append(took, time.Since(began))
	}

	return took, nil
}
