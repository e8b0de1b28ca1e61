package bestshot_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// TestPointsOfTheDatabase: the SQL function guess_points computes the same points as package score.
func TestPointsOfTheDatabase(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	goals, points := rapid.IntRange(0, 4), rapid.IntRange(0, 5)

	rapid.Check(t, func(r *rapid.T) {
		g, m := score.Result{Home: goals.Draw(r, "home"), Away: goals.Draw(r, "away")}, score.Result{
			Home: goals.Draw(r, "result home"),
			Away: goals.Draw(r, "result away"),
		}
		rule := score.Rule{
			Outcome:        points.Draw(r, "outcome"),
			HomeScore:      points.Draw(r, "home score"),
			AwayScore:      points.Draw(r, "away score"),
			GoalDifference: points.Draw(r, "difference"),
			ExactScore:     points.Draw(r, "exact"),
		}
		multiplier := rapid.IntRange(1, 5).Draw(r, "multiplier")

		got, _, err := pg.Value[int](t.Context(), w.DB,
			`SELECT guess_points($1, $2, $3, $4, ROW('58de2f1b-1374-4c92-bd53-23a81943de4b', 1, $5, $6, $7, $8, $9, now(), false, 0)::rule, $10)`,
			g.Home, g.Away, m.Home, m.Away, rule.Outcome, rule.HomeScore, rule.AwayScore, rule.GoalDifference, rule.ExactScore, multiplier)
		if err != nil {
			r.Fatal(err)
		}

		if want := rule.Of(g, m, multiplier).Total(); got != want {
			r.Fatalf("%+v for %+v by %+v times %d: the database computes %d, want %d", g, m, rule, multiplier, got, want)
		}
	})
}

// TestStatesOfGuesses: the states of a member's guesses, from before the match until it is settled.
func TestStatesOfGuesses(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	open := func(n int) provider.Fixture { return bestshottest.Fixture(n, kickOff, provider.Open) }
	w.Ingest(c.Feed("1", open(1), open(2), bestshottest.Fixture(3, kickOff, provider.NotDefined)))
	w.Guess("ann", w.MatchID(1), 2, 1)

	states := func() (all []string) {
		for _, g := range testkit.Decode[struct{ Data []guess.Guess }](w.World,
			w.Do("ann", "GET", "/tournaments/"+c.ID+"/guess?round=1", nil)).Data {
			all = append(all, fmt.Sprintf("%s %s:%s %s home %s %d, away %s %d, match %s %d, total %d, lost %t", g.Status, ints(g.Home.Value),
				ints(g.Away.Value), g.FullMatch.Label,
				g.Home.Status, g.Home.Points, g.Away.Status, g.Away.Points, g.FullMatch.Status, g.FullMatch.Points, g.Total, g.Lost))
		}

		slices.Sort(all)

		return all
	}

	for _, s := range []struct {
		at   time.Time
		do   func()
		want []string
	}{
		{kickOff.Add(-time.Second), func() {}, []string{
			"not-started -:-  home  0, away  0, match  0, total 0, lost false", "paused -:-  home  0, away  0, match  0, total 0, lost false",
			"waiting_for_game 2:1 HOME_WIN home  0, away  0, match  0, total 0, lost false"}},
		{kickOff, func() {}, []string{
			"expired -:-  home  0, away  0, match  0, total 0, lost true", "paused -:-  home  0, away  0, match  0, total 0, lost true",
			"waiting_for_game 2:1 HOME_WIN home  0, away  0, match  0, total 0, lost true"}},
		{kickOff.Add(2 * hour), func() {
			w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 2, 0), bestshottest.Fixture(2, kickOff, provider.Ended, 1, 1)))
			w.Settle()
		}, []string{
			"expired -:-  home  0, away  0, match  0, total 0, lost true",
			"finalized 2:1 HOME_WIN home correct 0, away incorrect 0, match correct 3, total 3, lost true",
			"paused -:-  home  0, away  0, match  0, total 0, lost true"}},
	} {
		w.MoveClock(s.at)
		s.do()

		if diff := cmp.Diff(s.want, states()); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", s.at, diff)
		}
	}

	for target, code := range map[string]string{
		"/api/v2/tournaments/" + c.ID + "/guess?round=9":                                       "round_not_found",
		"/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b/guess?round=1":               "round_not_found",
		"/api/v2/tournaments/" + c.ID + "/score?memberId=58de2f1b-1374-4c92-bd53-23a81943de4b": "member_not_found",
		"/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b/leaderboard":                 "tournament_not_found",
		"/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b/standings":                   "tournament_not_found",
		"/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b":                             "tournament_not_found",
		"/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b/rounds":                      "tournament_not_found",
		"/api/v2/tournaments/" + c.ID + "/matches/nine":                                        "round_not_found",
		"/api/v2/matches/58de2f1b-1374-4c92-bd53-23a81943de4b/guesses":                         "match_not_found",
		"/api/v2/leagues/58de2f1b-1374-4c92-bd53-23a81943de4b":                                 "league_not_found",
	} {
		if err := testkit.CheckProblemCode(w.Ask("ann", "GET", target, nil), 404, code); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestGuessThatWaitsIsLate: a guess that begins before the kick-off, and waits for the lock of its row until
// afterwards, changes nothing: others may have read the guesses by then.
func TestGuessThatWaitsIsLate(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	w.Register("ann")
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))
	m := w.MatchID(1)
	w.Guess("ann", m, 1, 0)

	_, waiter, exec := onServerClock(w)
	exec("UPDATE match SET date = clock_timestamp() + interval '2 seconds' WHERE id = $1", m)
	exec("BEGIN")
	exec("SELECT FROM guess WHERE match_id = $1 FOR UPDATE", m)

	stored := make(chan bool)

	go func() {
		rows, _ := waiter.Query(t.Context(), guess.Put, []string{m}, "ann", []int{2}, []int{2})

		row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
		if err != nil {
			t.Error(err)
		}

		stored <- row["id"] != nil
	}()

	exec("SELECT pg_sleep(extract(epoch FROM date - clock_timestamp()) + 0.1) FROM match WHERE id = $1", m)
	exec("COMMIT")

	if <-stored {
		t.Error("the guess that has waited is stored")
	}
}

// TestGuessesOfOthers: hidden until the kick-off, in pages afterwards, hidden again if the
// match is moved.
func TestGuessesOfOthers(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))
	m := w.MatchID(1)
	_, err := pg.Do(t.Context(), w.DB, `
WITH added AS (
    INSERT INTO member (public_id, nick_name)
    SELECT 'u' || n, 'nick' || n
    FROM generate_series(1, 101) n
    RETURNING id
)
INSERT INTO guess (match_id, member_id, home_score, away_score)
SELECT $1, id, 1, 0
FROM added`, m)
	testkit.Must(t, err)

	target := "/api/v2/matches/" + m + "/guesses"

	w.MoveClock(kickOff.Add(-time.Millisecond))

	if err := testkit.CheckProblemCode(w.Ask("u1", "GET", target, nil), 409, "guess_window_open"); err != nil {
		t.Error(err)
	}

	w.MoveClock(kickOff)

	type page struct {
		Data []guess.Other
		Next string
	}

	first := testkit.Decode[page](w.World, w.Ask("u1", "GET", target, nil))

	second := testkit.Decode[page](w.World, w.Ask("u1", "GET", target+"?cursor="+first.Next, nil))
	if len(first.Data) != 100 || len(second.Data) != 1 || second.Next != "" || second.Data[0].MemberID <= first.Data[99].MemberID {
		t.Errorf("%d and %d guesses, then %q", len(first.Data), len(second.Data), second.Next)
	}

	for name, f := range map[string]provider.Fixture{
		"is called off, and keeps its date": bestshottest.Fixture(1, kickOff, provider.NotDefined),
		"is moved":                          bestshottest.Fixture(1, kickOff.Add(24*hour), provider.Open),
	} {
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		w.Ingest(c.Feed("1", f))

		if err := testkit.CheckProblemCode(w.Ask("u1", "GET", target, nil), 409, "guess_window_open"); err != nil {
			t.Errorf("it %s: %v", name, err)
		}
	}
}

// TestBadGuess: the answer names the field.
func TestBadGuess(t *testing.T) {
	t.Parallel()
	w, _ := ended(t, false)

	m := w.MatchID(1)
	for name, c := range map[string]struct{ body, field string }{
		"negative":       {`{"matchId":"` + m + `","home":{"score":-1},"away":{"score":0}}`, "body.home.score"},
		"huge":           {`{"matchId":"` + m + `","home":{"score":0},"away":{"score":100}}`, "body.away.score"},
		"no integer":     {`{"matchId":"` + m + `","home":{"score":1.5},"away":{"score":0}}`, "body.home.score"},
		"missing":        {`{"matchId":"` + m + `","home":{},"away":{"score":0}}`, "body.home"},
		"no team":        {`{"matchId":"` + m + `","home":{"score":1}}`, "body"},
		"no id of match": {`{"matchId":"7","home":{"score":1},"away":{"score":0}}`, "body.matchId"},
	} {
		out := w.Ask("ann", "POST", "/api/v2/guess", c.body)
		if out.StatusCode != 400 && out.StatusCode != 422 || !strings.Contains(out.Body, `"`+c.field) {
			t.Errorf("%s: %d %s", name, out.StatusCode, out.Body)
		}
	}

	for code, ask := range map[string]func() (int, string){
		"match_not_found": func() (int, string) {
			o := w.Guess("ann", "58de2f1b-1374-4c92-bd53-23a81943de4b", 1, 1)
			return o.StatusCode, o.Body
		},
		"member_not_found": func() (int, string) { o := w.Guess("zed", m, 1, 1); return o.StatusCode, o.Body },
	} {
		if status, body := ask(); status != 404 || !strings.Contains(body, ":"+code) {
			t.Errorf("got %d %s, want %s", status, body, code)
		}
	}
}

// TestLeaderboardPages: dense ranks across pages, ties by nickname, and one read of the cache
// for a page, with 10 members as with 1,000.
func TestLeaderboardPages(t *testing.T) {
	t.Parallel()

	for _, n := range []int{10, 1000} {
		w := bestshottest.New(t)
		c := w.Found("cup")
		_, err := pg.Do(t.Context(), w.DB, `
WITH added AS (
    INSERT INTO member (public_id, nick_name)
    SELECT 'u' || n, 'nick' || lpad(n::text, 4, '0')
    FROM generate_series(1, $2::int) n
    RETURNING id, nick_name
)
INSERT INTO tournament_scoreboard (tournament_id, member_id, points)
SELECT $1, id, 30 - right(nick_name, 4)::int / 40
FROM added`, c.ID, n)
		testkit.Must(t, err)

		board := c.Board("u1")
		if len(board) != n {
			t.Fatalf("%d members, want %d", len(board), n)
		}

		for i, line := range board {
			if want := fmt.Sprintf("%d nick%04d %d", (i+1)/40+1, i+1, 30-(i+1)/40); line != want {
				t.Errorf("line %d is %q, want %q", i, line, want)
				break
			}
		}

		commands := w.Cache.CommandCount()
		w.DB.Close()
		w.Do("u1", "GET", "/tournaments/"+c.ID+"/leaderboard", nil)

		if got := w.Cache.CommandCount() - commands; got != 1 {
			t.Errorf("with %d members: %d commands, want 1", n, got)
		}

		if err := testkit.CheckProblemCode(w.Ask("u1", "GET", "/api/v2/tournaments/"+c.ID+"/leaderboard?cursor=99", nil),
			400, "bad_cursor"); err != nil {
			t.Error(err)
		}
	}
}

// TestColdKeyIsReadOnce: of fifty readers of a leaderboard that is not in the cache, one reads the
// database. The others wait for it.
func TestColdKeyIsReadOnce(t *testing.T) {
	t.Parallel()
	w, writes := counting(t)
	w.Register("ann")
	c := w.Found("cup")
	read := func() {
		if out := w.Ask("ann", "GET", "/api/v2/tournaments/"+c.ID+"/leaderboard", nil); out.StatusCode != 200 {
			t.Errorf("%d %s", out.StatusCode, out.Body)
		}
	}
	read() // connects
	w.Cache.FlushAll()
	writes.Store(0)
	read()

	one := writes.Load()

	w.Cache.FlushAll()
	writes.Store(0)

	var wg sync.WaitGroup

	for range 50 {
		done := w.Clock.Work() // time passes only while all readers wait

		wg.Go(func() {
			defer done()

			read()
		})
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))
	wg.Wait()

	if got := writes.Load(); one == 0 || got > 2*one {
		t.Errorf("fifty readers make %d calls of the database, and one makes %d", got, one)
	}
}

// TestNoTextThatTheDatabaseRefuses: a text with a NUL, which PostgreSQL refuses, is invalid.
func TestNoTextThatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")

	for _, c := range []struct {
		user, method, target string
		body                 any
	}{
		{"ann", "GET", "/tournaments?cursor=x%00", nil},
		{"ann", "POST", "/leagues/invitation", map[string]string{"code": "x\x00"}},
		{testkit.Administrator, "GET", "/admin/settlements?cursor=x%00", nil},
		{testkit.Administrator, "GET", "/admin/settlements/dlq?cursor=x%00", nil},
		{testkit.Administrator, "POST", "/admin/settlements/dlq/x%00/replay", nil},
	} {
		if out := w.Ask(c.user, c.method, "/api/v2"+c.target, c.body); out.StatusCode != 400 && out.StatusCode != 422 {
			t.Errorf("%s %s answers %d %s", c.method, c.target, out.StatusCode, out.Body)
		}
	}
}

// TestClaimEndsWithItsRead: a read leaves no claim for which the next reader would wait, also if the
// tournament does not exist.
func TestClaimEndsWithItsRead(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")

	c := w.Found("cup")
	for path, want := range map[string]int{
		c.ID + "/leaderboard":                              200,
		c.ID + "/matches/nine":                             404,
		"58de2f1b-1374-4c92-bd53-23a81943de4b/standings":   404,
		"58de2f1b-1374-4c92-bd53-23a81943de4b/matches/1":   404,
		"58de2f1b-1374-4c92-bd53-23a81943de4b/leaderboard": 404,
	} {
		out := w.Ask("ann", "GET", "/api/v2/tournaments/"+path, nil)

		left := slices.DeleteFunc(w.Cache.Keys(), func(key string) bool { return !strings.HasSuffix(key, ":claim") })
		if out.StatusCode != want || len(left) > 0 {
			t.Errorf("%s answers %d, want %d, and leaves %q", path, out.StatusCode, want, left)
		}
	}
}

// counting returns a room, and counts its writes to the connections of the database.
func counting(t *testing.T) (*bestshottest.World, *atomic.Int64) {
	t.Helper()

	writes := new(atomic.Int64)
	w := bestshottest.New(t)
	dial := w.Dial
	w.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil && address != w.Cache.Addr() {
			c = counted{c, writes}
		}

		return c, err
	}

	return w, writes
}

type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) { c.writes.Add(1); return c.Conn.Write(b) }

// TestNicknames: leaderboards show a new nickname at once. A member may have five a day.
func TestNicknames(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()
	c.Board("bob") // fills the cache
	w.Do("ann", "PATCH", "/member", map[string]string{"nickName": "Äna"})

	if diff := cmp.Diff([]string{"1 Äna 3", "2 bob 0"}, c.Board("bob")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	w.Do("ann", "PATCH", "/member", map[string]string{"nickName": "Äna"}) // the same is none

	for i := range 4 {
		w.Do("ann", "PATCH", "/member", map[string]string{"nickName": fmt.Sprint("a", i)})
	}

	if err := testkit.CheckProblemCode(w.Ask("ann", "PATCH", "/api/v2/member", map[string]string{"nickName": "sixth"}), 429,
		"too_many_renames"); err != nil {
		t.Error(err)
	}

	w.MoveClock(w.Clock.Now().Add(24 * hour))
	w.Do("ann", "PATCH", "/member", map[string]string{"nickName": "sixth"})

	if diff := cmp.Diff([]string{"1 sixth 3", "2 bob 0"}, c.Board("bob")); diff != "" {
		t.Errorf("after a day (-want +got):\n%s", diff)
	}

	if err := testkit.CheckProblemCode(w.Ask("zed", "PATCH", "/api/v2/member", map[string]string{"nickName": "zed"}), 404,
		"member_not_found"); err != nil {
		t.Error(err)
	}
}

// TestRulesAndMultipliers: another rule or multiplier settles again, by differences.
func TestRulesAndMultipliers(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	path := "/admin/tournaments/" + c.ID
	for _, s := range []struct {
		method, target string
		body           any
		want           []string
	}{
		// 2:0 and 0:0 for 1:0
		{"PATCH", path, map[string]any{"rule": score.Rule{Outcome: 2, HomeScore: 1, AwayScore: 1}}, []string{"1 ann 3", "2 bob 1"}},
		{"PATCH", path + "/rounds/1", map[string]any{"multiplier": 3}, []string{"1 ann 9", "2 bob 3"}},
		{"PATCH", path, map[string]any{"rule": score.Standard, "label": "Cup"}, []string{"1 ann 9", "2 bob 0"}},
		{"PATCH", path + "/rounds/1", map[string]any{"multiplier": 1}, []string{"1 ann 3", "2 bob 0"}},
	} {
		for range 2 { // the second changes nothing
			w.Do(root, s.method, s.target, s.body)
			w.Settle()
		}

		if diff := cmp.Diff(s.want, c.Board("ann")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", s.body, diff)
		}
	}

	if n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM settlement`); n != 5 || err != nil {
		t.Errorf("%d settlements, %v; want 5", n, err)
	}

	w.Ingest(c.Feed("2", bestshottest.Fixture(2, w.Clock.Now().Add(hour), provider.Open)))
	rounds := testkit.Decode[struct{ Data []tournament.Round }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/rounds", nil)).Data

	want := []tournament.Round{
		{
			Slug:       "1",
			Label:      "Round 1",
			Type:       "season",
			Multiplier: 1,
			Winners:    []tournament.Score{{MemberID: memberID(w, "ann"), NickName: "ann", Points: 3}},
		},
		{Slug: "2", Label: "Round 2", Type: "season", Multiplier: 1, Winners: []tournament.Score{}},
	}
	if diff := cmp.Diff(want, rounds); diff != "" {
		t.Errorf("the rounds (-want +got):\n%s", diff)
	}
}

// TestMovement: how many ranks a member has gained in the current round.
func TestMovement(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob", "cyd")
	c := w.Found("cup")
	movements := func() (all []string) {
		for _, e := range testkit.Decode[struct{ Data []view.Entry }](w.World,
			w.Do("ann", "GET", "/tournaments/"+c.ID+"/leaderboard", nil)).Data {
			all = append(all, fmt.Sprintf("%d %s %+d", e.Rank, e.NickName, e.Movement))
		}

		return all
	}

	for round, s := range []struct {
		guesses map[string][2]int
		want    []string
	}{
		{map[string][2]int{"ann": {1, 0}, "bob": {0, 1}, "cyd": {0, 0}}, []string{"1 ann +0", "2 bob +0", "2 cyd +0"}},
		{map[string][2]int{"ann": {0, 1}, "bob": {1, 0}, "cyd": {2, 0}}, []string{"1 ann +0", "1 bob +1", "1 cyd +1"}},
		{map[string][2]int{"ann": {0, 1}, "bob": {1, 1}, "cyd": {3, 1}}, []string{"1 cyd +0", "2 ann -1", "2 bob -1"}},
	} {
		kickOff := w.Clock.Now().Add(hour)
		n := round + 1
		w.Ingest(c.Feed(fmt.Sprint(n), bestshottest.Fixture(n, kickOff, provider.Open)))

		for user, g := range s.guesses {
			w.Guess(user, w.MatchID(n), g[0], g[1])
		}

		w.MoveClock(kickOff.Add(2 * hour))
		w.Ingest(c.Feed(fmt.Sprint(n), bestshottest.Fixture(n, kickOff, provider.Ended, 1, 0)))
		w.Settle()

		if diff := cmp.Diff(s.want, movements()); diff != "" {
			t.Errorf("after round %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestLeagues: codes, roles, limits and the table.
func TestLeagues(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Register("cyd")
	w.Settle()
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Admin"}))

	typed := strings.ToLower(l.Code[:4] + "-" + l.Code[4:])
	for range 2 {
		if got := testkit.Decode[league.League](w.World,
			w.Do("bob", "POST", "/leagues/invitation", map[string]string{"code": typed})); got.Members != 2 || got.Role != "member" {
			t.Errorf("got %+v", got)
		}
	}

	table := func(user string) (all []string) {
		for _, e := range testkit.Decode[struct{ Data []view.Entry }](w.World, w.Do(user, "GET", "/leagues/"+l.ID+"/score", nil)).Data {
			all = append(all, fmt.Sprintf("%d %s %d", e.Rank, e.NickName, e.Points))
		}

		return all
	}
	if diff := cmp.Diff([]string{"1 ann 0", "1 bob 0"}, table("bob")); diff != "" {
		t.Errorf("without a tournament (-want +got):\n%s", diff)
	}

	follow := map[string][]string{"tournaments": {c.ID}}
	for user, code := range map[string]string{"bob": "not_league_admin", "cyd": "league_not_found"} {
		out := w.Ask(user, "PATCH", "/api/v2/leagues/"+l.ID+"/tournaments", follow)
		if !strings.Contains(out.Body, ":"+code) {
			t.Errorf("%s: %d %s", user, out.StatusCode, out.Body)
		}
	}

	followed := func() []string {
		return testkit.Decode[league.League](w.World, w.Do("bob", "GET", "/leagues/"+l.ID, nil)).Tournaments
	}
	if diff := cmp.Diff([]string{}, followed()); diff != "" {
		t.Errorf("the tournaments at first (-want +got):\n%s", diff)
	}

	w.Do("ann", "PATCH", "/leagues/"+l.ID+"/tournaments", follow)

	if out := w.Ask("ann", "PATCH", "/api/v2/leagues/"+l.ID+"/tournaments", map[string]any{"tournaments": nil}); out.StatusCode != 422 ||
		!strings.Contains(out.Body, "body.tournaments") {
		t.Errorf("null tournaments: %d %s", out.StatusCode, out.Body)
	}

	if diff := cmp.Diff([]string{c.ID}, followed()); diff != "" {
		t.Errorf("the tournaments (-want +got):\n%s", diff)
	}

	unknown := map[string][]string{"tournaments": {"58de2f1b-1374-4c92-bd53-23a81943de4b"}} // changes nothing
	if err := testkit.CheckProblemCode(w.Ask("ann", "PATCH", "/api/v2/leagues/"+l.ID+"/tournaments", unknown), 404,
		"tournament_not_found"); err != nil {
		t.Error(err)
	}

	w.MoveClock(w.Clock.Now().Add(view.LeagueLifetime))

	if diff := cmp.Diff([]string{"1 ann 3", "2 bob 0"}, table("bob")); diff != "" {
		t.Errorf("with a tournament (-want +got):\n%s", diff)
	}

	if err := testkit.CheckProblemCode(w.Ask("cyd", "GET", "/api/v2/leagues/"+l.ID+"/score", nil), 404, "league_not_found"); err != nil {
		t.Error(err)
	}

	for range 10 {
		if err := testkit.CheckProblemCode(w.Ask("cyd", "POST", "/api/v2/leagues/invitation", map[string]string{"code": "00000000"}), 404,
			"code_not_found"); err != nil {
			t.Error(err)
		}
	}

	if err := testkit.CheckProblemCode(w.Ask("cyd", "POST", "/api/v2/leagues/invitation", map[string]string{"code": l.Code}), 429,
		"too_many_codes"); err != nil {
		t.Error(err)
	}

	w.MoveClock(w.Clock.Now().Add(hour))
	w.Do("cyd", "POST", "/leagues/invitation", map[string]string{"code": l.Code})
	w.Do("zed", "DELETE", "/leagues/"+l.ID+"/membership", nil) // who has not registered is in none

	for range 2 {
		w.Do("ann", "DELETE", "/leagues/"+l.ID+"/membership", nil)
	}

	if got := testkit.Decode[league.League](w.World, w.Do("bob", "GET", "/leagues/"+l.ID, nil)); got.Role != "admin" || got.Members != 2 {
		t.Errorf("after the administrator left: %+v", got)
	}

	for i := range 20 {
		w.Do("ann", "POST", "/leagues", map[string]string{"name": fmt.Sprint("l", i)})
	}

	for _, ask := range []struct {
		target string
		body   map[string]string
	}{{"", map[string]string{"name": "more"}}, {"/invitation", map[string]string{"code": l.Code}}} {
		if err := testkit.CheckProblemCode(w.Ask("ann", "POST", "/api/v2/leagues"+ask.target, ask.body), 409, "too_many_leagues"); err != nil {
			t.Error(err)
		}
	}
}

// TestRequestsToJoinAreLimited: a user who sends more than 20 in a minute to one environment is
// refused before the function has read anything; others are not.
func TestRequestsToJoinAreLimited(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")

	join := func(user, code string) {
		t.Helper()

		out := w.Ask(user, "POST", "/api/v2/leagues/invitation", map[string]string{"code": "00000000"})
		if err := testkit.CheckProblemCode(out, map[bool]int{true: 404, false: 429}[code == "code_not_found"], code); err != nil {
			t.Error(err)
		}
	}
	for range 10 {
		join("ann", "code_not_found")
	}

	for range 10 {
		join("ann", "too_many_codes")
	}

	if calls := w.CountCalls(func() { join("ann", "too_many_requests") }); len(calls) > 0 {
		t.Errorf("the refusal has made the calls %v", calls)
	}

	join("bob", "code_not_found")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	join("ann", "too_many_codes")
}

// TestHydrate: what differs from the ledger is repaired, and the cache has it at once. A second
// run repairs nothing.
func TestHydrate(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	for _, target := range []string{"/admin/hydrate/scoreboard/" + c.ID, "/admin/hydrate/scoreboard"} {
		_, err := pg.Do(t.Context(), w.DB, `UPDATE tournament_scoreboard SET points = 77`)
		testkit.Must(t, err)
		w.Cache.FlushAll()

		for _, repaired := range []int{2, 0} {
			want := settlement.HydratedOne{TournamentID: c.ID, Members: 2, Repaired: int64(repaired)}

			got := testkit.Decode[struct{ Tournaments []settlement.HydratedOne }](w.World, w.Do(root, "POST", target, nil)).Tournaments
			if diff := cmp.Diff([]settlement.HydratedOne{want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", target, diff)
			}

			if got := cached(w, c); !strings.Contains(got, `"nickName":"ann","points":3`) {
				t.Errorf("%s: the cache has %q", target, got)
			}
		}

		if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2/admin/hydrate/scoreboard/58de2f1b-1374-4c92-bd53-23a81943de4b", nil), 404,
		"tournament_not_found"); err != nil {
		t.Error(err)
	}
}

// TestListOfTournaments: by slug, in pages of 100, all or those with a status.
func TestListOfTournaments(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	_, err := pg.Do(t.Context(), w.DB, `
WITH added AS (
    INSERT INTO tournament (provider, external_id, season, slug, label, status)
    SELECT
        $1,
        '17',
        n::text,
        'cup-' || lpad(n::text, 3, '0'),
        'Cup',
        CASE n WHEN 7 THEN 'active' ELSE 'upcoming' END::tournament_status
    FROM generate_series(1, 101) n
    RETURNING id
)
INSERT INTO rule (tournament_id, version, outcome, home_score, away_score, goal_difference, exact_score)
SELECT id, 1, 3, 0, 0, 0, 0
FROM added`, provider.Default)
	testkit.Must(t, err)

	slugs := func(from, to int) (all []string) {
		for n := from; n <= to; n++ {
			all = append(all, fmt.Sprintf("cup-%03d", n))
		}

		return all
	}
	for query, want := range map[string]struct {
		slugs []string
		next  string
	}{
		"": {slugs(1, 100), "cup-100"}, "?cursor=cup-100": {slugs(101, 101), ""}, "?cursor=cup-101": {nil, ""},
		"?status=active": {slugs(7, 7), ""}, "?status=active&cursor=cup-007": {nil, ""}, "?status=completed": {nil, ""},
	} {
		page := testkit.Decode[struct {
			Data []tournament.Tournament
			Next string
		}](w.World, w.Do("ann", "GET", "/tournaments"+query, nil))

		var got []string
		for _, c := range page.Data {
			got = append(got, c.Slug)
		}

		if diff := cmp.Diff(want.slugs, got); diff != "" || page.Next != want.next || page.Data == nil {
			t.Errorf("%q: the next is %q, want %q; slugs (-want +got):\n%s", query, page.Next, want.next, diff)
		}
	}
}

// TestTournamentsOfALeagueAreReplaced: of two lists that are sent at once, one is stored.
func TestTournamentsOfALeagueAreReplaced(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Admin"}))
	a, b := w.Found("cup").ID, w.Found("other").ID

	for range 5 {
		var both sync.WaitGroup
		for _, id := range []string{a, b} {
			both.Go(func() {
				if out := w.Ask("ann", "PATCH", "/api/v2/leagues/"+l.ID+"/tournaments",
					map[string][]string{"tournaments": {id}}); out.StatusCode != 200 {
					t.Errorf("%d %s", out.StatusCode, out.Body)
				}
			})
		}

		both.Wait()

		if got := testkit.Decode[league.League](w.World, w.Do("ann", "GET", "/leagues/"+l.ID, nil)).Tournaments; len(got) != 1 {
			t.Errorf("the league follows %q", got)
		}
	}
}

// TestTournamentsOfADeletedLeague: a league that is deleted while its list is replaced is not found.
func TestTournamentsOfADeletedLeague(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Admin"}))
	cup := w.Found("cup").ID

	var asked sync.WaitGroup

	testkit.Must(t, w.DB.Tx(t.Context(), func(tx pgx.Tx) error {
		_, err := pg.Do(t.Context(), tx, `DELETE FROM league WHERE id = $1`, l.ID)

		asked.Go(func() {
			out := w.Ask("ann", "PATCH", "/api/v2/leagues/"+l.ID+"/tournaments", map[string][]string{"tournaments": {cup}})
			if out.StatusCode != 404 || !strings.Contains(out.Body, "league_not_found") {
				t.Errorf("%d %s", out.StatusCode, out.Body)
			}
		})

		for waits := 0; waits == 0 && err == nil; { // until the request has read the league, and waits for it
			waits, _, err = pg.Value[int](t.Context(), w.DB, `
SELECT count(*)::int
FROM pg_stat_activity
WHERE datname = current_database()
    AND wait_event_type = 'Lock'`)
		}

		return err
	}))
	asked.Wait()
}

// TestVoidMatchIsNotPlayed: a void match of a later round earns no points, and does not change the
// current round.
func TestVoidMatchIsNotPlayed(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()
	w.Ingest(c.Feed("9", bestshottest.Fixture(9, w.Clock.Now().Add(hour), provider.NotDefined)))
	w.Do(root, "POST", "/admin/settlements/"+w.MatchID(9)+"/correct", map[string]any{"void": true})
	w.Settle()

	if got := testkit.Decode[tournament.Tournament](w.World,
		w.Do("ann", "GET", "/tournaments/"+c.ID, nil)).CurrentRound; got == nil || *got != "1" {
		t.Errorf("the current round is %v", got)
	}
}

// TestListOfSettlements: the newest first, in pages that lose nothing though all are of one
// moment; and the backlog.
func TestListOfSettlements(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(-3 * hour)

	var fixtures []provider.Fixture
	for n := range 103 {
		fixtures = append(fixtures, bestshottest.Fixture(n, kickOff, provider.Ended, 1, 0))
	}

	w.Ingest(c.Feed("1", fixtures...))

	type page struct {
		Data []settlement.Settlement
		Next string
	}

	for _, status := range []string{"pending", "applied"} {
		seen, target := map[string]bool{}, "/admin/settlements?status="+status
		first := testkit.Decode[page](w.World, w.Do(root, "GET", target, nil))

		second := testkit.Decode[page](w.World, w.Do(root, "GET", target+"&cursor="+first.Next, nil))
		for _, x := range slices.Concat(first.Data, second.Data) {
			seen[x.MatchID] = true
			if (x.Key == nil) != (status == "pending") {
				t.Errorf("%s: the key is %v", status, x.Key)
			}
		}

		if len(first.Data) != 100 || len(second.Data) != 3 || len(seen) != 103 || second.Next != "" {
			t.Errorf("%s: %d and %d of %d matches, then %q", status, len(first.Data), len(second.Data), len(seen), second.Next)
		}

		w.Settle()
	}

	for _, cursor := range []string{"x", "1_2_3", "1_58de2f1b-1374-4c92-bd53-23a81943de4b_x", "1_58de2f1bx1374x4c92xbd53x23a81943de4b_1",
		"99999999999999999999_58de2f1b-1374-4c92-bd53-23a81943de4b_1"} {
		if err := testkit.CheckProblemCode(w.Ask(root, "GET", "/api/v2/admin/settlements?cursor="+cursor, nil), 400, "bad_cursor"); err != nil {
			t.Errorf("%s: %v", cursor, err)
		}
	}
}

// TestDashboard: the matches of a day, with what the caller has guessed; a tournament that is
// cancelled has none, and takes no guesses.
func TestDashboard(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := w.Found("cup")
	midnight := bestshottest.Noon.Add(12 * hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, midnight.Add(-time.Second), provider.Open), bestshottest.Fixture(2, midnight, provider.Open),
		bestshottest.Fixture(3, midnight.Add(-24*hour-time.Second), provider.Open)))
	w.Guess("ann", w.MatchID(1), 1, 1)

	day := func(query string) (all []string) {
		for _, m := range testkit.Decode[struct{ Data []tournament.DayMatch }](w.World, w.Do("ann", "GET", "/dashboard"+query, nil)).Data {
			all = append(all, fmt.Sprintf("%s %t", m.Home.Name, m.Guessed))
		}

		return all
	}
	for query, want := range map[string][]string{
		"":                {"Home 1 true"},
		"?day=2026-06-07": {"Home 2 false"},
		"?day=2026-06-05": {"Home 3 false"},
		"?day=2026-06-08": nil,
	} {
		if diff := cmp.Diff(want, day(query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}

	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "cancelled"})

	if got := day(""); got != nil {
		t.Errorf("of a cancelled tournament: %q", got)
	}

	if err := testkit.CheckProblemCode(w.Guess("ann", w.MatchID(2), 1, 1), 409, "guess_window_closed"); err != nil {
		t.Error(err)
	}
}
