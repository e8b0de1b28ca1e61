package bestshot_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/queue"
)

// checkFailures checks that a run reports each failure of an I/O call: see dynamotest.CheckFailures.
// Each run opens its service with the environment of fn. It first closes the connections of the run
// before, so that writes of that run's clients are not counted.
func checkFailures[S any](w *bestshottest.World, t *testing.T, fn app.Function, open app.Opener[S], run func(S, context.Context) error) {
	t.Helper()

	var (
		p       dynamotest.Process
		current atomic.Int64 // the number of the run
		mu      sync.Mutex
		conns   []net.Conn
	)

	closeAll := func() {
		mu.Lock()
		defer mu.Unlock()

		for _, c := range conns {
			c.Close()
		}

		conns = nil
	}
	defer closeAll()

	dynamotest.CheckFailures(t, &p, func() error {
		number := current.Add(1)

		closeAll()

		env := w.CrashingEnv(fn, &p)
		dial := w.Dial
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}

			mu.Lock()

			conns = append(conns, raw)
			mu.Unlock()

			name := "SQL"
			if address == w.Cache.Addr() {
				name = dynamotest.CacheCall
			}

			counted, err := p.Dialer(func(context.Context, string, string) (net.Conn, error) { return raw, nil },
				func(string) string { return name })(ctx, network, address)

			return &connOfRun{Conn: counted, raw: raw, current: func() bool { return current.Load() == number }}, err
		}

		s, err := open(w.NewContext(), env)
		if err != nil {
			return err
		}

		return run(s, w.NewContext())
	}, dynamotest.CacheCall)
}

// connOfRun is a connection whose writes are counted as calls until the next run begins.
type connOfRun struct {
	net.Conn
	raw     net.Conn
	current func() bool
}

func (c *connOfRun) Write(b []byte) (int, error) {
	if c.current() {
		return c.Conn.Write(b)
	}

	return c.raw.Write(b)
}

// TestFailedJobIsRepeated: a job returns an error if one of its calls fails, so that it is repeated.
// So does a job that has nothing to do, or whose work a run before has done.
func TestFailedJobIsRepeated(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	of := account.Request{Job: "J", UserID: "zed"} // a run before has deleted the data
	feed := c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Ended, 1, 0))

	for name, check := range map[string]func(t *testing.T){
		"plan-polls": func(t *testing.T) {
			checkFailures(w, t, ingest.PlanPollsFunction(), ingest.OpenPlanner, (*ingest.Planner).PlanPolls)
		},
		"remind": func(t *testing.T) {
			checkFailures(w, t, notice.RemindFunction(), notice.OpenReminders, (*notice.Reminders).Remind)
		},
		"ingest-feed": func(t *testing.T) {
			checkFailures(w, t, ingest.IngestFeedFunction(), ingest.Open,
				func(s *ingest.Ingester, ctx context.Context) error { return s.IngestFeed(ctx, feed) })
		},
		"export-user": func(t *testing.T) {
			checkFailures(w, t, userdata.ExportUserFunction(), userdata.Open,
				func(s *userdata.Service, ctx context.Context) error { return s.ExportUser(ctx, of) })
		},
		"forget-user": func(t *testing.T) {
			checkFailures(w, t, userdata.ForgetUserFunction(), userdata.Open,
				func(s *userdata.Service, ctx context.Context) error { return s.ForgetUser(ctx, of) })
		},
		"keep-letters": func(t *testing.T) {
			checkFailures(w, t, settlement.KeepDeadLettersFunction(), settlement.OpenAdmin, func(s *settlement.Admin, ctx context.Context) error {
				return s.KeepDeadLetter(ctx, queue.DeadLetter{ID: "1", Body: "{}"})
			})
		},
	} {
		t.Run(name, check)
	}
}

// routeFailures is checkFailures for a route that reads. The cache is empty before each request.
func routeFailures(w *bestshottest.World, user, target string, fn app.Function) func(*testing.T) {
	open := func(_ context.Context, env app.Env) (testkit.Route, error) {
		return testkit.ServeWith(w.World, fn, env), nil
	}

	return func(t *testing.T) {
		checkFailures(w, t, fn, open, func(route testkit.Route, _ context.Context) error {
			w.Cache.FlushAll()
			return testkit.Failed(route(testkit.Request("GET", "/api/v2"+target, user, "")))
		})
	}
}

// TestFailedReadIsNoAnswer: a route that reads answers with an error if one of its calls of the
// database fails, also a route that would answer with an empty list. If a call of the cache fails, it
// answers from the database.
func TestFailedReadIsNoAnswer(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	cup := "/tournaments/" + c.ID

	l := "/leagues/" + testkit.Decode[struct{ Data []league.League }](w.World, w.Do("ann", "GET", "/leagues", nil)).Data[0].ID
	for name, check := range map[string]func(*testing.T){
		"member":              routeFailures(w, "ann", "/member", member.GetMemberFunction()),
		"no member":           routeFailures(w, "zed", "/member", member.GetMemberFunction()),
		"tournaments":         routeFailures(w, "ann", "/tournaments", tournament.ListTournamentsFunction()),
		"tournament":          routeFailures(w, "ann", cup, tournament.GetTournamentFunction()),
		"rounds":              routeFailures(w, "ann", cup+"/rounds", tournament.ListRoundsFunction()),
		"matches":             routeFailures(w, "ann", cup+"/matches/1", tournament.ListMatchesFunction()),
		"standings":           routeFailures(w, "ann", cup+"/standings", tournament.ListStandingsFunction()),
		"teams":               routeFailures(w, "ann", cup+"/teams", tournament.ListTeamsFunction()),
		"leaderboard":         routeFailures(w, "ann", cup+"/leaderboard", tournament.ListLeaderboardFunction()),
		"dashboard":           routeFailures(w, "ann", "/dashboard", tournament.GetDashboardFunction()),
		"guesses":             routeFailures(w, "ann", cup+"/guess?round=1", guess.ListGuessesFunction()),
		"guesses of no round": routeFailures(w, "ann", cup+"/guess?round=9", guess.ListGuessesFunction()),
		"guesses of others":   routeFailures(w, "ann", "/matches/"+w.MatchID(1)+"/guesses", guess.ListMatchGuessesFunction()),
		"score":               routeFailures(w, "ann", cup+"/score", guess.GetScoreFunction()),
		"leagues":             routeFailures(w, "ann", "/leagues", league.ListLeaguesFunction()),
		"league":              routeFailures(w, "ann", l, league.GetLeagueFunction()),
		"table of a league":   routeFailures(w, "ann", l+"/score", league.GetScoreFunction()),
		"executions":          routeFailures(w, root, "/admin"+cup+"/executions", ingest.ListExecutionsFunction()),
		"all tournaments":     routeFailures(w, root, "/admin/tournaments", ingest.ListAllTournamentsFunction()),
		"all matches":         routeFailures(w, root, "/admin"+cup+"/matches", ingest.ListAllMatchesFunction()),
		"no matches":          routeFailures(w, root, "/admin"+cup+"/matches?round=9", ingest.ListAllMatchesFunction()),
		"settlements":         routeFailures(w, root, "/admin/settlements", settlement.ListSettlementsFunction()),
		"dead letters":        routeFailures(w, root, "/admin/settlements/dlq", settlement.ListDeadLettersFunction()),
	} {
		t.Run(name, check)
	}
}
