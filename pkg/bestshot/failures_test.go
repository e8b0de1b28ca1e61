package bestshot_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/profile"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// fails checks that a run reports each failure of an I/O call, as dynamotest.CheckFailures. Each
// run opens its service, whose I/O is that of fn. What the client still writes to the connections
// of the run before, in order to close them, counts for nothing.
func fails[S any](w *bestshottest.World, t *testing.T, fn spec.Function, open app.Opener[S], run func(S, context.Context) error) {
	t.Helper()
	var p dynamotest.Process
	var now atomic.Int64
	dynamotest.CheckFailures(t, &p, func() error {
		turn := now.Add(1)
		env := w.CrashingEnv(fn, &p)
		dial := w.Dial
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			name := testkit.SQLCall
			if address == w.Cache.Addr() {
				name = testkit.CacheCall
			}
			counted, err := p.Dialer(func(context.Context, string, string) (net.Conn, error) { return raw, nil }, func(string) string { return name })(ctx, network, address)
			return &ofTurn{Conn: counted, raw: raw, current: func() bool { return now.Load() == turn }}, err
		}
		s, err := open(w.NewContext(), env)
		if err != nil {
			return err
		}
		return run(s, w.NewContext())
	}, testkit.CacheCall)
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
			fails(w, t, ingest.PlanPollsFunction, ingest.OpenPlanner, (*ingest.Planner).PlanPolls)
		},
		"remind": func(t *testing.T) {
			fails(w, t, notice.RemindFunction, notice.OpenReminders, (*notice.Reminders).Remind)
		},
		"ingest-feed": func(t *testing.T) {
			fails(w, t, ingest.IngestFeedFunction, ingest.Open, func(s *ingest.Ingester, ctx context.Context) error { return s.IngestFeed(ctx, feed) })
		},
		"export-user": func(t *testing.T) {
			fails(w, t, profile.ExportUserFunction, profile.OpenForgetter, func(s *profile.Forgetter, ctx context.Context) error { return s.ExportUser(ctx, of) })
		},
		"forget-user": func(t *testing.T) {
			fails(w, t, profile.ForgetUserFunction, profile.OpenForgetter, func(s *profile.Forgetter, ctx context.Context) error { return s.ForgetUser(ctx, of) })
		},
		"keep-letters": func(t *testing.T) {
			fails(w, t, settlement.KeepLettersFunction, settlement.OpenOffice, func(s *settlement.Office, ctx context.Context) error {
				return s.KeepLetter(ctx, queue.Letter{ID: "1", Body: "{}"})
			})
		},
	} {
		t.Run(name, check)
	}
}
