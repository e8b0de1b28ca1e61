package bestshot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
)

const noMatch = "58de2f1b-1374-4c92-bd53-23a81943de4b"

// guessOf is a guess in a request.
func guessOf(matchID string, home, away int) map[string]any {
	return map[string]any{"matchId": matchID, "home": map[string]int{"score": home}, "away": map[string]int{"score": away}}
}

// guessAll guesses matches of one request, and returns the outcomes: "stored 2:1", "match_not_found".
func guessAll(w *bestshottest.World, user string, all ...map[string]any) (outcomes []string) {
	w.T.Helper()

	for _, a := range testkit.Decode[struct{ Data []guess.Answer }](w.World, w.Do(user, "PUT", "/guesses", map[string]any{"guesses": all})).Data {
		if a.Guess != nil {
			outcomes = append(outcomes, fmt.Sprintf("%s %s:%s", a.Outcome, ints(a.Guess.Home.Value), ints(a.Guess.Away.Value)))
		} else {
			outcomes = append(outcomes, string(a.Outcome))
		}
	}

	return outcomes
}

// guessRows returns the stored guesses, with how many each has replaced: "ann 2:1 0".
func guessRows(w *bestshottest.World) []string {
	w.T.Helper()
	rows, err := pg.Values[string](w.T.Context(), w.DB, `
SELECT p.nick_name || ' ' || g.home_score || ':' || g.away_score || ' ' || cardinality(g.earlier)
FROM guess g
JOIN match m ON m.id = g.match_id
JOIN member p ON p.id = g.member_id
ORDER BY m.external_id, 1`)
	testkit.Must(w.T, err)

	return rows
}

// fiveMatches returns matches that begin in an hour: 1 and 2 are open, 3 was postponed, 4 has begun early, and
// 5 belongs to a tournament that is over.
func fiveMatches(t testing.TB) (w *bestshottest.World, ids []string) {
	t.Helper()
	w = bestshottest.New(t)
	w.Register("ann", "bob")

	c, over := w.Found("cup"), w.Found("over")
	at := bestshottest.Noon.Add(hour)
	open := func(n int) provider.Fixture { return bestshottest.Fixture(n, at, provider.Open) }
	begun := open(4)
	begun.InPlay = true

	w.Ingest(c.Feed("1", open(1), open(2), bestshottest.Fixture(3, at, provider.NotDefined), begun))
	w.Ingest(over.Feed("1", open(5)))
	w.Do(testkit.Administrator, "PATCH", "/admin/tournaments/"+over.ID, map[string]string{"status": "completed"})

	for n := 1; n <= 5; n++ {
		ids = append(ids, w.MatchID(n))
	}

	return w, ids
}

// TestRoundIsGuessedAtOnce: each guess of a request is stored or refused for itself, as the same guess alone
// would be. A second run changes nothing, and a changed guess keeps the one before.
func TestRoundIsGuessedAtOnce(t *testing.T) {
	t.Parallel()
	w, ids := fiveMatches(t)

	var round []map[string]any
	for i, id := range append(slices.Clone(ids), noMatch) {
		round = append(round, guessOf(id, i, 0))
	}

	want := []string{"stored 0:0", "stored 1:0", "guess_window_closed", "guess_window_closed", "guess_window_closed", "match_not_found"}
	for range 2 {
		if diff := cmp.Diff(want, guessAll(w, "ann", round...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}

		if diff := cmp.Diff([]string{"ann 0:0 0", "ann 1:0 0"}, guessRows(w)); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
	}

	for i, outcome := range want {
		code := 200
		if outcome == "guess_window_closed" {
			code = 409
		} else if outcome == "match_not_found" {
			code = 404
		}

		if out := w.Guess("bob", append(slices.Clone(ids), noMatch)[i], 1, 1); out.StatusCode != code {
			t.Errorf("guess %d alone: %d, want %d", i, out.StatusCode, code)
		}
	}

	// In the other order, with one change.
	if diff := cmp.Diff([]string{"stored 3:3", "stored 0:0"}, guessAll(w, "ann", guessOf(ids[1], 3, 3), guessOf(ids[0], 0, 0))); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"ann 0:0 0", "bob 1:1 0", "ann 3:3 1", "bob 1:1 0"}, guessRows(w)); diff != "" {
		t.Errorf("stored after a change (-want +got):\n%s", diff)
	}

	w.MoveClock(bestshottest.Noon.Add(hour))

	if diff := cmp.Diff([]string{"guess_window_closed"}, guessAll(w, "ann", guessOf(ids[0], 9, 9))); diff != "" {
		t.Errorf("at the kick-off (-want +got):\n%s", diff)
	}
}

// TestBadGuesses: a request that is invalid stores nothing, and the answer names the field.
func TestBadGuesses(t *testing.T) {
	t.Parallel()
	w, ids := fiveMatches(t)

	many := make([]map[string]any, 51)
	for i := range many {
		many[i] = guessOf(fmt.Sprintf("58de2f1b-1374-4c92-bd53-%012d", i), 1, 1)
	}

	good := guessOf(ids[0], 1, 1)

	for name, c := range map[string]struct {
		user   string
		body   any
		status int
		want   string
	}{
		"none":             {"ann", map[string]any{"guesses": []int{}}, 422, "body.guesses"},
		"null":             {"ann", map[string]any{"guesses": nil}, 422, "body.guesses"},
		"too many":         {"ann", map[string]any{"guesses": many}, 409, "too_many_guesses"},
		"twice":            {"ann", map[string]any{"guesses": []any{good, guessOf(strings.ToUpper(ids[0]), 2, 2)}}, 400, "body.guesses[1].matchId"},
		"negative":         {"ann", map[string]any{"guesses": []any{good, guessOf(ids[1], -1, 0)}}, 422, "body.guesses[1].home.score"},
		"no id":            {"ann", map[string]any{"guesses": []any{good, guessOf("7", 1, 0)}}, 422, "body.guesses[1].matchId"},
		"another field":    {"ann", map[string]any{"guesses": []any{good}, "memberId": ids[0]}, 422, "body"},
		"no member":        {"zed", map[string]any{"guesses": []any{good}}, 404, "member_not_found"},
		"no user":          {"", map[string]any{"guesses": []any{good}}, 401, ""},
		"a deleted member": {"bob", map[string]any{"guesses": []any{good}}, 401, "account_deleted"},
	} {
		testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "bob"})

		if out := w.Ask(c.user, "PUT", "/api/v2/guesses", c.body); out.StatusCode != c.status || !strings.Contains(out.Body, c.want) {
			t.Errorf("%s: %d %s, want %d with %q", name, out.StatusCode, out.Body, c.status, c.want)
		}
	}

	if rows := guessRows(w); len(rows) > 0 {
		t.Errorf("stored: %q", rows)
	}
}

// TestGuessesCrash: a request that is lost and sent again leaves what one request leaves.
func TestGuessesCrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w, ids := fiveMatches(t)

		in := &guess.PutGuesses{User: auth.User{UserID: "ann"}}
		in.Body.Guesses = []guess.Made{{MatchID: ids[1], Home: guess.Goals{Score: 1}}, {MatchID: ids[0]}, {MatchID: ids[3]}}

		_, err := testkit.OpenWith(w.World, w.CrashingEnv(guess.PutGuessesFunction(), p), guess.Open).PutGuesses(w.NewContext(), in)
		if p.Ended(err) {
			_, err := testkit.Open(w.World, guess.PutGuessesFunction(), guess.Open).PutGuesses(w.NewContext(), in)
			testkit.Must(t, err)
		}

		return guessRows(w)
	})
}

// onServerClock returns two connections on the clock of PostgreSQL, which the world's does not move. exec
// executes a statement on the first.
func onServerClock(w *bestshottest.World) (holder, waiter *pgx.Conn, exec func(sql string, args ...any)) {
	w.T.Helper()

	name, _, err := pg.Value[string](w.T.Context(), w.DB, "SELECT current_database()")
	testkit.Must(w.T, err)

	var conns [2]*pgx.Conn

	for i := range conns {
		conns[i], err = pgx.Connect(w.T.Context(), w.SQL.Server().URL("", name))
		testkit.Must(w.T, err)
		w.T.Cleanup(func() { conns[i].Close(context.Background()) })
	}

	return conns[0], conns[1], func(sql string, args ...any) {
		w.T.Helper()

		_, err := conns[0].Exec(w.T.Context(), sql, args...)
		testkit.Must(w.T, err)
	}
}

// TestGuessesThatWaitAreLate: of a request that waits for the lock of one guess until after the kick-off
// nothing is stored, neither the guess that waits nor a new one behind it. Until then it has locked no guess
// out of order, so that two requests at once cannot wait for each other.
func TestGuessesThatWaitAreLate(t *testing.T) {
	t.Parallel()
	w, ids := fiveMatches(t)
	ids = ids[:2]
	slices.Sort(ids)
	w.Guess("ann", ids[0], 1, 0)
	w.Guess("bob", ids[1], 1, 0)

	holder, waiter, exec := onServerClock(w)
	exec("UPDATE match SET date = clock_timestamp() + interval '2 seconds' WHERE id = ANY($1)", ids)
	exec("BEGIN")
	exec("SELECT FROM guess WHERE match_id = $1 FOR UPDATE", ids[0])

	stored := make(chan int)

	go func() { // in the other order
		rows, _ := waiter.Query(t.Context(), guess.Put, []string{ids[1], ids[0]}, "ann", []int{2, 2}, []int{2, 2})

		all, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil {
			t.Error(err)
		}

		n := 0

		for _, r := range all {
			if r["id"] != nil {
				n++
			}
		}

		stored <- n
	}()

	exec("SELECT pg_sleep(extract(epoch FROM date - clock_timestamp()) + 0.1) FROM match WHERE id = $1", ids[0])

	var behind int // a row of the waiter would keep this one from being written, or be seen by it
	testkit.Must(t, holder.QueryRow(t.Context(), `
WITH added AS (
    INSERT INTO guess (match_id, member_id, home_score, away_score)
    SELECT $1, id, 7, 7
    FROM member
    WHERE public_id = 'ann'
    RETURNING 1
)
SELECT count(*)::int
FROM added`, ids[1]).Scan(&behind))
	exec("DELETE FROM guess WHERE home_score = 7")
	exec("COMMIT")

	if n := <-stored; n != 0 || behind != 1 {
		t.Errorf("%d of the guesses that have waited are stored, and %d could be written behind them; want 0 and 1", n, behind)
	}
}

// TestDayOfTheDashboard: from midnight to midnight of the caller's time zone, also when clocks change.
func TestDayOfTheDashboard(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")

	var fixtures []provider.Fixture

	kickOffs := []string{
		"2026-06-05T21:59Z", "2026-06-05T22:00Z", "2026-06-06T12:30Z", "2026-06-06T21:59Z", "2026-06-06T22:00Z", "2026-06-07T06:59Z",
		"2026-10-24T21:59Z", "2026-10-24T22:00Z", "2026-10-25T22:59Z", "2026-10-25T23:00Z", // 25 hours in Madrid
		"2018-11-04T02:59Z", "2018-11-04T03:00Z", // midnight is skipped in São Paulo
	}
	for n, at := range kickOffs {
		kickOff, err := time.Parse("2006-01-02T15:04Z", at)
		testkit.Must(t, err)

		fixtures = append(fixtures, bestshottest.Fixture(n+1, kickOff, provider.Open))
	}

	w.Ingest(c.Feed("1", fixtures...))

	for query, want := range map[string][]string{
		"":                                           {kickOffs[2], kickOffs[3], kickOffs[4]},
		"?timeZone=UTC":                              {kickOffs[2], kickOffs[3], kickOffs[4]},
		"?timeZone=Europe/Madrid":                    {kickOffs[1], kickOffs[2], kickOffs[3]},
		"?timeZone=America/Los_Angeles":              {kickOffs[2], kickOffs[3], kickOffs[4], kickOffs[5]},
		"?timeZone=Europe/Madrid&day=2026-06-07":     {kickOffs[4], kickOffs[5]},
		"?timeZone=Europe/Madrid&day=2026-10-25":     {kickOffs[7], kickOffs[8]},
		"?timeZone=America/Sao_Paulo&day=2018-11-04": {kickOffs[11]},
		"?timeZone=America/Sao_Paulo&day=2018-11-03": {kickOffs[10]},
		"?timeZone=Pacific/Auckland&day=9999-12-31":  nil,
		"?day=2026-10-25":                            {kickOffs[8], kickOffs[9]},
	} {
		var got []string
		for _, m := range dashboard(w, "ann", query).Data {
			got = append(got, m.Date.Format("2006-01-02T15:04Z"))
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}

	for _, zone := range []string{"Mars", "Local", "posixrules", "../etc/passwd", "Europe/Madrid%00", "+02:00", "CET-1"} {
		if out := w.Ask("ann", "GET", "/api/v2/dashboard?timeZone="+zone, nil); out.StatusCode != 400 || !strings.Contains(out.Body, "query.timeZone") {
			t.Errorf("%s: %d %s", zone, out.StatusCode, out.Body)
		}
	}
}

type dashboardBody struct {
	Data         []tournament.DayMatch
	NextDeadline *time.Time
}

func dashboard(w *bestshottest.World, user, query string) dashboardBody {
	w.T.Helper()
	return testkit.Decode[dashboardBody](w.World, w.Do(user, "GET", "/dashboard"+query, nil))
}

// TestDashboardShowsOwnGuesses: with what each has earned, and not those of others. Who is no member sees the
// matches alone.
func TestDashboardShowsOwnGuesses(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()
	w.Register("cyd")
	w.Ingest(c.Feed("2", bestshottest.Fixture(2, bestshottest.Noon.Add(4*hour), provider.Open)))
	w.Guess("bob", w.MatchID(2), 4, 4)

	for user, want := range map[string][]string{
		"ann": {"true 2:0 3", "false"},
		"bob": {"true 0:0 0", "true 4:4 0"},
		"cyd": {"false", "false"},
		"zed": {"false", "false"},
	} {
		var got []string

		for _, m := range dashboard(w, user, "").Data {
			line := fmt.Sprint(m.Guessed)
			if m.Guess != nil {
				line += fmt.Sprintf(" %s:%s %d", ints(m.Guess.Home.Value), ints(m.Guess.Away.Value), m.Guess.Total)
			}

			got = append(got, line)
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}
}

// TestNextDeadline: the next kick-off without a guess of the caller, in tournaments with a guess of the
// caller, or that a league of the caller follows, on any day.
func TestNextDeadline(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	c, other := w.Found("cup"), w.Found("other")
	at := func(hours int) time.Time { return bestshottest.Noon.Add(time.Duration(hours) * hour) }

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, at(1), provider.Open), bestshottest.Fixture(2, at(2), provider.NotDefined),
		bestshottest.Fixture(3, at(50), provider.Open), bestshottest.Fixture(4, at(60), provider.Open)))
	w.Ingest(other.Feed("1", bestshottest.Fixture(5, at(3), provider.Open)))

	l := testkit.Decode[struct{ ID string }](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"})).ID

	for _, s := range []struct {
		name string
		do   func()
		want time.Time
	}{
		{"plays nothing", func() {}, time.Time{}},
		{"has guessed the first", func() { w.Guess("ann", w.MatchID(1), 1, 0) }, at(50)},
		{"another has guessed", func() { w.Guess("bob", w.MatchID(3), 1, 0) }, at(50)},
		{"a league follows the other", func() {
			w.Do("ann", "PATCH", "/leagues/"+l+"/tournaments", map[string]any{"tournaments": []string{other.ID}})
		}, at(3)},
		{"its match has begun", func() { w.MoveClock(at(3)) }, at(50)},
		{"has guessed the third", func() { w.Guess("ann", w.MatchID(3), 1, 0) }, at(60)},
		{"the tournament is over", func() {
			w.Do(testkit.Administrator, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "completed"})
		}, time.Time{}},
	} {
		s.do()

		got := dashboard(w, "ann", "").NextDeadline
		if got == nil && !s.want.IsZero() || got != nil && !got.Equal(s.want) {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}

	if got := dashboard(w, "zed", "").NextDeadline; got != nil {
		t.Errorf("of no member: %v", got)
	}
}
