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

// fails checks that a run reports each failure of an I/O call, as dynamotest.CheckFailures. Each
// run opens its service, whose I/O is that of fn. The connections of the run before are closed
// first: what its client still writes to them counts for nothing.
func fails[S any](w *bestshottest.World, t *testing.T, fn app.Function, open app.Opener[S], run func(S, context.Context) error) {
	t.Helper()

	var (
		p     dynamotest.Process
		now   atomic.Int64
		mu    sync.Mutex
		conns []net.Conn
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
		turn := now.Add(1)

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

			return &ofTurn{Conn: counted, raw: raw, current: func() bool { return now.Load() == turn }}, err
		}

		s, err := open(w.NewContext(), env)
		if err != nil {
			return err
		}

		return run(s, w.NewContext())
	}, dynamotest.CacheCall)
}

// ofTurn is a connection whose writes are calls while its run goes on.
type ofTurn struct {
	net.Conn
	raw     net.Conn
	current func() bool
}

func (c *ofTurn) Write(b []byte) (int, error) {
	if c.current() {
		return c.Conn.Write(b)
	}

	return c.raw.Write(b)
}

// TestFailedJobIsRepeated: a job that fails at a call says so, also one that finds nothing to do
// or that a run before has done, because it is repeated.
func TestFailedJobIsRepeated(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	of := account.Request{Job: "J", UserID: "zed"} // whom a run before has forgotten
	feed := c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Ended, 1, 0))

	for name, check := range map[string]func(t *testing.T){
		"plan-polls": func(t *testing.T) {
			fails(w, t, ingest.PlanPollsFunction(), ingest.OpenPlanner, (*ingest.Planner).PlanPolls)
		},
		"remind": func(t *testing.T) {
			fails(w, t, notice.RemindFunction(), notice.OpenReminders, (*notice.Reminders).Remind)
		},
		"ingest-feed": func(t *testing.T) {
			fails(w, t, ingest.IngestFeedFunction(), ingest.Open,
				func(s *ingest.Ingester, ctx context.Context) error { return s.IngestFeed(ctx, feed) })
		},
		"export-user": func(t *testing.T) {
			fails(w, t, userdata.ExportUserFunction(), userdata.Open,
				func(s *userdata.Service, ctx context.Context) error { return s.ExportUser(ctx, of) })
		},
		"forget-user": func(t *testing.T) {
			fails(w, t, userdata.ForgetUserFunction(), userdata.Open,
				func(s *userdata.Service, ctx context.Context) error { return s.ForgetUser(ctx, of) })
		},
		"keep-letters": func(t *testing.T) {
			fails(w, t, settlement.KeepLettersFunction(), settlement.OpenOffice, func(s *settlement.Office, ctx context.Context) error {
				return s.KeepLetter(ctx, queue.DeadLetter{ID: "1", Body: "{}"})
			})
		},
	} {
		t.Run(name, check)
	}
}

// failsRoute is fails for a route that reads. The cache has nothing before each request.
func failsRoute(w *bestshottest.World, user, target string, fn app.Function) func(*testing.T) {
	open := func(_ context.Context, env app.Env) (testkit.Route, error) {
		return testkit.ServeWith(w.World, fn, env), nil
	}

	return func(t *testing.T) {
		fails(w, t, fn, open, func(route testkit.Route, _ context.Context) error {
			w.Cache.FlushAll()
			return testkit.Failed(route(testkit.Request("GET", "/api/v2"+target, user, "")))
		})
	}
}

// TestFailedReadIsNoAnswer: a route that reads answers with an error if any of its calls of the
// database fails, also one that would answer that there is nothing. Without the cache it reads
// the database.
func TestFailedReadIsNoAnswer(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	cup := "/tournaments/" + c.ID

	l := "/leagues/" + testkit.Decode[struct{ Data []league.League }](w.World, w.Do("ann", "GET", "/leagues", nil)).Data[0].ID
	for name, check := range map[string]func(*testing.T){
		"member":              failsRoute(w, "ann", "/member", member.GetMemberFunction()),
		"no member":           failsRoute(w, "zed", "/member", member.GetMemberFunction()),
		"tournaments":         failsRoute(w, "ann", "/tournaments", tournament.ListTournamentsFunction()),
		"tournament":          failsRoute(w, "ann", cup, tournament.GetTournamentFunction()),
		"rounds":              failsRoute(w, "ann", cup+"/rounds", tournament.ListRoundsFunction()),
		"matches":             failsRoute(w, "ann", cup+"/matches/1", tournament.ListMatchesFunction()),
		"standings":           failsRoute(w, "ann", cup+"/standings", tournament.ListStandingsFunction()),
		"teams":               failsRoute(w, "ann", cup+"/teams", tournament.ListTeamsFunction()),
		"leaderboard":         failsRoute(w, "ann", cup+"/leaderboard", tournament.ListLeaderboardFunction()),
		"dashboard":           failsRoute(w, "ann", "/dashboard", tournament.GetDashboardFunction()),
		"guesses":             failsRoute(w, "ann", cup+"/guess?round=1", guess.ListGuessesFunction()),
		"guesses of no round": failsRoute(w, "ann", cup+"/guess?round=9", guess.ListGuessesFunction()),
		"guesses of others":   failsRoute(w, "ann", "/matches/"+w.MatchID(1)+"/guesses", guess.ListMatchGuessesFunction()),
		"score":               failsRoute(w, "ann", cup+"/score", guess.GetScoreFunction()),
		"leagues":             failsRoute(w, "ann", "/leagues", league.ListLeaguesFunction()),
		"league":              failsRoute(w, "ann", l, league.GetLeagueFunction()),
		"table of a league":   failsRoute(w, "ann", l+"/score", league.GetScoreFunction()),
		"executions":          failsRoute(w, root, "/admin"+cup+"/executions", ingest.ListExecutionsFunction()),
		"settlements":         failsRoute(w, root, "/admin/settlements", settlement.ListSettlementsFunction()),
		"letters":             failsRoute(w, root, "/admin/settlements/dlq", settlement.ListLettersFunction()),
	} {
		t.Run(name, check)
	}
}
