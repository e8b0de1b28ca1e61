package bestshot_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
)

// ended returns a world in which ann has guessed match 1 of a tournament right, bob has
// guessed it wrong, and the match has ended: its message is in the queue.
func ended(t testing.TB, own bool) (*bestshottest.World, *bestshottest.Tournament) {
	t.Helper()

	open := bestshottest.New
	if own {
		open = bestshottest.NewWithOwnServer
	}

	w := open(t)
	w.Register("ann", "bob")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))
	w.Guess("ann", w.MatchID(1), 2, 0)
	w.Guess("bob", w.MatchID(1), 0, 0)
	w.MoveClock(kickOff.Add(2 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)))

	return w, c
}

var settledOnce = []string{"1 ann 3", "2 bob 0"}

// ledger returns the rows of the ledger: "ann 1 3".
func ledger(w *bestshottest.World) []string {
	w.T.Helper()
	rows, err := pg.Values[string](w.T.Context(), w.DB, `
SELECT m.nick_name || ' ' || l.version || ' ' || l.points_earned
FROM scoreboard_ledger l
JOIN member m ON m.id = l.member_id
ORDER BY 1`)
	testkit.Must(w.T, err)

	return rows
}

// cached returns the leaderboard of the cache, "" if there is none.
func cached(w *bestshottest.World, c *bestshottest.Tournament) string {
	return w.Cache.HGet(view.LeaderboardKey(c.ID), "0")
}

// F1: a provider that fails leaves everything as it is, and the next poll asks again.
func TestProviderIsDown(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]func() (*http.Response, error){
		"no answer": func() (*http.Response, error) { return nil, errors.New("connection refused") },
		"403":       func() (*http.Response, error) { return respond(403, "{}"), nil },
		"429":       func() (*http.Response, error) { return respond(429, "{}"), nil },
		"500":       func() (*http.Response, error) { return respond(500, ""), nil },
		"HTML":      func() (*http.Response, error) { return respond(200, "<html>"), nil },
		"half":      func() (*http.Response, error) { return respond(200, `{"events":[{"id":1,`), nil },
		"too large": func() (*http.Response, error) { return respond(200, strings.Repeat(" ", 4<<20)+`{"events":[]}`), nil },
		"nonsense":  func() (*http.Response, error) { return respond(200, `{"events":[{"id":1}]}`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Provider = transport(func(*http.Request) (*http.Response, error) { return answer() })
			w.Settings[provider.SofascoreURL] = "https://provider.test/api/v1"
			c := w.Found("cup")
			kickOff := bestshottest.Noon.Add(hour)
			w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))
			w.MoveClock(kickOff.Add(2 * hour))

			for range 2 { // cycles
				testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))
				s := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)

				polls := testkit.Drain(w.World, ingest.PollQueue, time.Minute,
					func(ctx context.Context, p ingest.Poll) error { return s.PollProvider(ctx, p) })
				if polls == 0 {
					t.Error("nothing is asked for")
				}

				if n := len(w.Queues.Messages(ingest.FeedQueue.Name)); n != 0 {
					t.Errorf("%d answers of a provider that fails", n)
				}
			}

			if !w.Logs.Warned() {
				t.Error("the failure is not logged")
			}
		})
	}
}

func respond(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: readCloser{strings.NewReader(body)}}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// F2: while the worker is down the messages wait in the queue. Then it settles their matches.
func TestWorkerIsDown(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.MoveClock(w.Clock.Now().Add(3 * 24 * hour))

	if n := len(w.Queues.Messages(settlement.Queue.Name)); n != 1 {
		t.Fatalf("%d messages wait, want 1", n)
	}

	w.Settle()

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// F3: another session locks the tournament, and the settlement comes again later. Then the server is
// killed during a settlement. Nothing is applied, and the retry applies it once.
func TestDatabaseTimesOutAndDies(t *testing.T) {
	t.Parallel()
	w, c := ended(t, true)
	open := func(patience int) *settlement.Worker {
		w.Patience = patience
		return testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)
	}
	hasty, s := open(1), open(100) // the first exceeds the time limit for a lock
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]

	locked, release := make(chan struct{}), make(chan struct{})

	gone := make(chan error, 1)
	go func() {
		gone <- w.DB.Tx(t.Context(), func(tx pgx.Tx) error {
			_, err := pg.Do(t.Context(), tx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
			if err == nil {
				_, err = pg.Do(t.Context(), tx, `SELECT FROM tournament FOR UPDATE`)
			}

			close(locked)
			<-release

			return err
		})
	}()

	<-locked

	// Waiting costs no delivery: the message is sent again, and comes later.
	if err := hasty.SettleMatch(w.NewContext(), m); err != nil || len(w.Queues.Messages(settlement.Queue.Name)) != 2 {
		t.Errorf("while the tournament is locked: %v, and %d messages, want 2", err, len(w.Queues.Messages(settlement.Queue.Name)))
	}

	close(release)
	testkit.Must(t, <-gone)

	if got := ledger(w); len(got) != 0 {
		t.Errorf("the ledger has %q", got)
	}

	_, err := pg.Do(t.Context(), s.DB, `SELECT`)
	testkit.Must(t, err) // the pool has a connection to lose
	w.SQL.Server().Kill()

	if err := s.SettleMatch(w.NewContext(), m); problem.Of(err) != problem.Unavailable {
		t.Errorf("after the server was killed: %v", err)
	}

	testkit.Must(t, w.SQL.Server().Restart(t.Context()))

	w.DB = w.SQL.Open(tables.DB)                 // those of the old pool are lost
	for range settlement.Queue.MaxReceiveCount { // those after the first meet the lost connections of the pool, then a new one
		if err = s.SettleMatch(w.NewContext(), m); err != nil && problem.Of(err) != problem.Unavailable {
			t.Error(err)
		}
	}

	testkit.Must(t, err)

	if diff := cmp.Diff([]string{"ann 1 3", "bob 1 0"}, ledger(w)); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// F4: the worker dies between the commit and the cache. The second run does not settle the match
// again, and writes the projection.
func TestCrashBetweenDatabaseAndCache(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)
	w.Cache.SetError("ERR gone")

	if err := s.SettleMatch(w.NewContext(), m); problem.Of(err) != problem.Unavailable {
		t.Errorf("without the cache: %v", err)
	}

	w.Cache.SetError("")

	if got := ledger(w); len(got) != 2 || cached(w, c) != "" {
		t.Fatalf("the ledger has %q, and the cache %q", got, cached(w, c))
	}

	w.MoveClock(w.Clock.Now().Add(30 * time.Second))
	testkit.Must(t, s.SettleMatch(w.NewContext(), m))

	if diff := cmp.Diff([]string{"ann 1 3", "bob 1 0"}, ledger(w)); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}

	if got := cached(w, c); !strings.Contains(got, `"nickName":"ann","points":3`) {
		t.Errorf("the cache has %s", got)
	}
}

// F5: without the cache members get the same answers from the database, also if the cache accepts
// connections and never answers.
func TestCacheIsDown(t *testing.T) {
	t.Parallel()

	var blocked atomic.Bool

	w := bestshottest.New(t)
	dial := w.Dial
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing: the kernel answers the handshake
	testkit.Must(t, err)
	t.Cleanup(func() { silent.Close() })

	w.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if blocked.Load() && address == w.Cache.Addr() {
			address = silent.Addr().String()
		}

		return dial(ctx, network, address)
	}
	w.Register("ann")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))
	w.Guess("ann", w.MatchID(1), 1, 0)
	w.MoveClock(kickOff.Add(2 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)))
	w.Settle()

	paths := []string{"/leaderboard", "/standings", "/matches/1"}
	read := func() (all []string) {
		for _, p := range paths {
			all = append(all, w.Do("ann", "GET", "/tournaments/"+c.ID+p, nil).Body)
		}

		return all
	}
	whole := read()

	w.Patience = 1 // a cache that never answers is waited for
	for _, failure := range []struct {
		name       string
		begin, end func()
	}{
		{"answers with errors", func() { w.Cache.SetError("ERR gone") }, func() { w.Cache.SetError("") }},
		{"is lost", func() { w.Cache.FlushAll() }, func() {}},
		{"never answers", func() { blocked.Store(true) }, func() { blocked.Store(false) }},
		{"is closed", w.Cache.Close, func() { testkit.Must(t, w.Cache.Restart()) }},
	} {
		failure.begin()

		if diff := cmp.Diff(whole, read()); diff != "" {
			t.Errorf("a cache that %s (-with it +without it):\n%s", failure.name, diff)
		}

		failure.end()
		w.MoveClock(w.Clock.Now().Add(time.Minute))

		if diff := cmp.Diff(whole, read()); diff != "" {
			t.Errorf("after a cache that %s (-want +got):\n%s", failure.name, diff)
		}
	}
}

// TestDeadLetterIsKeptAndReplayed: a message that was given up is kept once, with its reason. An
// administrator can send it again, which settles the match once.
func TestDeadLetterIsKeptAndReplayed(t *testing.T) {
	t.Parallel()

	w, c := ended(t, false)
	if diff := cmp.Diff([]time.Duration{30 * time.Second, time.Minute, 2 * time.Minute}, settlement.Queue.Backoff); diff != "" ||
		settlement.Queue.MaxReceiveCount != 4 {
		t.Errorf("a message is tried %d times\n%s", settlement.Queue.MaxReceiveCount, diff)
	}

	good := w.Queues.Messages(settlement.Queue.Name)[0].Body
	w.Clear(settlement.Queue)
	admin := testkit.Open(w.World, settlement.KeepDeadLettersFunction(), settlement.OpenAdmin)

	for range 2 {
		for _, l := range []queue.DeadLetter{{ID: "1", Body: good}, {ID: "2", Body: "no job", Reason: "the message cannot be read"}} {
			testkit.Must(t, admin.KeepDeadLetter(w.NewContext(), l))
		}
	}

	for range 3 {
		w.Do(root, "POST", "/admin/settlements/dlq/1/replay", nil)
		w.Settle()
	}

	list := func(status string) []settlement.DeadLetter {
		t.Helper()

		return testkit.Decode[struct{ Data []settlement.DeadLetter }](w.World,
			w.Do(root, "GET", "/admin/settlements/dlq"+status, nil)).Data
	}

	all := append(list(""), list("?status=closed")...)
	for i := range all {
		if at := all[i].ReplayedAt; (at != nil) != (all[i].Replays > 0) || at != nil && at.Before(all[i].ReceivedAt) {
			t.Errorf("the message %s was received at %v and replayed at %v", all[i].ID, all[i].ReceivedAt, at)
		}

		if closed := all[i].ClosedAt != nil; closed != (all[i].ID == "1") {
			t.Errorf("the message %s is closed: %t", all[i].ID, closed)
		}

		all[i].ReceivedAt, all[i].ReplayedAt, all[i].ClosedAt = time.Time{}, nil, nil
	}

	if diff := cmp.Diff([]settlement.DeadLetter{
		{ID: "2", Payload: "no job", Reason: "the message cannot be read"},
		{
			ID:      "1",
			Payload: good,
			Reason:  "the last try ended without an answer: its time or memory was used up, or the function was stopped",
			Replays: 3,
		},
	}, all); diff != "" {
		t.Errorf("the messages (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"ann 1 3", "bob 1 0"}, ledger(w)); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2/admin/settlements/dlq/3/replay", nil), 404,
		"message_not_found"); err != nil {
		t.Error(err)
	}
}

// TestListOfDeadLetters: the newest first, in pages of 100.
func TestListOfDeadLetters(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	_, err := pg.Do(t.Context(), w.DB, `
INSERT INTO settlement_dlq (id, payload, reason, received_at)
SELECT lpad(n::text, 3, '0'), '{}', '', to_timestamp(n / 2)
FROM generate_series(1, 101) n`)
	testkit.Must(t, err)

	for query, want := range map[string]struct{ first, last, next string }{
		"":                    {"101", "002", "1000000_002"},
		"?cursor=1000000_002": {"001", "001", ""},
	} {
		page := testkit.Decode[struct {
			Data []settlement.DeadLetter
			Next string
		}](w.World, w.Do(root, "GET", "/admin/settlements/dlq"+query, nil))

		n := len(page.Data)
		if n == 0 || page.Data[0].ID != want.first || page.Data[n-1].ID != want.last || page.Next != want.next {
			t.Errorf("%q: got %d messages, then %q; want %s to %s, then %q", query, n, page.Next, want.first, want.last, want.next)
		}
	}
}

// TestUnsettledMatchIsPostedAgain: a match that is not settled is posted again every 15 minutes.
func TestUnsettledMatchIsPostedAgain(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Clear(settlement.Queue)

	plan := testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner)
	for _, s := range []struct {
		after time.Duration // of the finish
		want  int
	}{{14 * time.Minute, 0}, {16 * time.Minute, 1}, {17 * time.Minute, 1}, {32 * time.Minute, 2}} {
		w.MoveClock(bestshottest.Noon.Add(3*hour + s.after))
		testkit.Must(t, plan.PlanPolls(w.NewContext()))

		if got := len(w.Queues.Messages(settlement.Queue.Name)); got != s.want {
			t.Errorf("%v after the finish: %d messages, want %d", s.after, got, s.want)
		}
	}

	w.Settle()

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	w.MoveClock(w.Clock.Now().Add(hour))
	testkit.Must(t, plan.PlanPolls(w.NewContext()))

	if n := len(w.Queues.Messages(settlement.Queue.Name)); n != 0 {
		t.Errorf("%d messages for what is settled", n)
	}
}

// TestLongCacheFailure: a match was settled, and its message was given up because the cache did not
// answer. The function that keeps dead letters replaces the old leaderboard as soon as it answers.
func TestLongCacheFailure(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 0, 0)))
	message := w.Queues.Messages(settlement.Queue.Name)[0].Body
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	w.Cache.SetError("ERR gone")

	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)
	if err := s.SettleMatch(w.NewContext(), m); err == nil {
		t.Fatal("it is settled without the cache")
	}

	admin := testkit.Open(w.World, settlement.KeepDeadLettersFunction(), settlement.OpenAdmin)
	if err := admin.KeepDeadLetter(w.NewContext(), queue.DeadLetter{ID: "1", Body: message}); problem.Of(err) != problem.Unavailable {
		t.Errorf("while the cache does not answer: %v", err)
	}

	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, admin.KeepDeadLetter(w.NewContext(), queue.DeadLetter{ID: "1", Body: message}))

	if diff := cmp.Diff([]string{"1 bob 3", "2 ann 0"}, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if got := w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil).Body; strings.Count(got, `"score":0`) != 2 {
		t.Errorf("the round is %s", got)
	}

	if got := w.Do(root, "GET", "/admin/settlements/dlq", nil).Body; got != `{"data":[]}`+"\n" {
		t.Errorf("the match is settled, and its message is kept: %s", got)
	}
}

// TestChangesWithoutTheCache: a correction of a result succeeds without the cache. A new nickname is
// stored, with an error about the leaderboards. A second request updates them.
func TestChangesWithoutTheCache(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()
	c.Board("ann")
	w.Cache.SetError("ERR gone")
	w.Do(root, "POST", "/admin/settlements/"+w.MatchID(1)+"/correct", map[string]int{"home": 0, "away": 0})

	out := w.Ask("bob", "PATCH", "/api/v2/member", map[string]string{"nickName": "Rob"})
	if err := testkit.CheckProblemCode(out, 503, "leaderboards_late"); err != nil || out.Headers["Retry-After"] != "5" {
		t.Errorf("%v, to be tried again after %q s", err, out.Headers["Retry-After"])
	}

	if got := w.Do("bob", "GET", "/member", nil).Body; !strings.Contains(got, `"Rob"`) {
		t.Errorf("the member is %s", got)
	}

	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))

	if got := c.Board("ann"); got[1] != "2 bob 0" {
		t.Errorf("the cache was changed while it was away: %q", got)
	}

	w.Do("bob", "PATCH", "/member", map[string]string{"nickName": "Rob"})

	if got := c.Board("ann"); got[1] != "2 Rob 0" {
		t.Errorf("after the repeat: %q", got)
	}

	w.Settle()

	if diff := cmp.Diff([]string{"1 Rob 3", "2 ann 0"}, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLostInvalidation: a function that corrected a result died before it invalidated the round. The
// settlement writes the round.
func TestLostInvalidation(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	read := func() string { return w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil).Body }
	read()
	w.Cache.SetError("ERR gone")
	w.Ask(root, "POST", "/api/v2/admin/settlements/"+w.MatchID(1)+"/correct", map[string]int{"home": 4, "away": 4})
	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext())) // sends the outbox
	w.Settle()

	if got := read(); strings.Count(got, `"score":4`) != 2 {
		t.Errorf("the round is %s", got)
	}
}

// TestRuleIsNotPostedTwice: the plan does not post a match that was posted in the last 15 minutes,
// however long ago it ended.
func TestRuleIsNotPostedTwice(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()
	w.MoveClock(w.Clock.Now().Add(hour))
	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID+"/rounds/1", map[string]any{"multiplier": 2})

	plan := testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls
	for _, s := range []struct {
		wait time.Duration
		want int
	}{{0, 1}, {15 * time.Minute, 0}, {time.Minute, 1}} {
		w.MoveClock(w.Clock.Now().Add(s.wait))
		testkit.Must(t, plan(w.NewContext()))

		if n := len(testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)); n != s.want {
			t.Errorf("%v later: %d messages, want %d", s.wait, n, s.want)
		}

		w.Clear(settlement.Queue)
	}
}

// TestBadMessage: a message that does not follow the contract is Invalid, and is not retried.
func TestBadMessage(t *testing.T) {
	t.Parallel()
	w, _ := ended(t, false)
	good := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)

	for reason, change := range map[string]func(m *settlement.MatchFinished){
		"eventType: expected match_finished":                  func(m *settlement.MatchFinished) { m.EventType = "match_begun" },
		"matchId: expected a UUID":                            func(m *settlement.MatchFinished) { m.MatchID = "7" },
		"tournamentId: expected a UUID":                       func(m *settlement.MatchFinished) { m.TournamentID = strings.Repeat("x", 36) },
		"finishedAt: expected an ISO date and time":           func(m *settlement.MatchFinished) { m.FinishedAt = time.Time{} },
		"provider: expected the name of a provider":           func(m *settlement.MatchFinished) { m.Provider = "" },
		"providerStatus: expected the status at the provider": func(m *settlement.MatchFinished) { m.ProviderStatus = "" },
		"internalStatus: expected ended":                      func(m *settlement.MatchFinished) { m.InternalStatus = "open" },
		"detectedAt: expected an ISO date and time":           func(m *settlement.MatchFinished) { m.DetectedAt = time.Time{} },
	} {
		m := good
		change(&m)

		if err := s.SettleMatch(w.NewContext(), m); problem.Of(err) != problem.Invalid || err.Error() != reason {
			t.Errorf("got %v, want %q", err, reason)
		}
	}

	unknown := good
	unknown.MatchID = "58de2f1b-1374-4c92-bd53-23a81943de4b" // was deleted
	testkit.Must(t, s.SettleMatch(w.NewContext(), unknown))
	testkit.Must(t, s.SettleMatch(w.NewContext(), good))

	if got := ledger(w); len(got) != 2 {
		t.Errorf("the ledger has %q", got)
	}
}

// awaitRollback waits until no transaction has locked rows of a table. The server rolls back what a
// crash left when it sees the end of the connection. Until then the next run skips what is locked.
func awaitRollback(w *bestshottest.World, table string) {
	w.T.Helper()
	testkit.Must(w.T, w.DB.Tx(w.T.Context(), func(tx pgx.Tx) error {
		_, err := tx.Exec(w.T.Context(), `SET LOCAL lock_timeout = 0; LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE`)
		return err
	}))
}

// TestSettleMatchCrashes: a settlement in ranges of one guess that crashes before or after any I/O call,
// and goes on, applies the points once.
func TestSettleMatchCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
		w, c := ended(t, false)
		m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]

		fn := settlement.SettleMatchesFunction()
		open := func(ctx context.Context, env app.Env) (*settlement.Worker, error) {
			return settlement.OpenWith(ctx, env, 1, 10)
		}

		err := testkit.OpenWith(w.World, w.CrashingEnv(fn, p), open).SettleMatch(w.NewContext(), m)
		if p.Ended(err, dynamotest.CacheCall) { // the client survives the loss of what it asks a new connection
			awaitRollback(w, "tournament")
			checkSums(t, w)
			testkit.Must(t, testkit.Open(w.World, fn, open).SettleMatch(w.NewContext(), m))
		}

		checkSums(t, w)

		return []any{ledger(w), c.Board("ann"), strings.Contains(cached(w, c), `"nickName":"ann","points":3`)}
	})
}

// TestIngestFeedCrashes: if storing an answer crashes before or after any I/O call, and runs again,
// the match is settled, and members see what is stored: every page was in the cache before.
func TestIngestFeedCrashes(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(hour)
	played := kickOff.Add(2 * hour)
	first, second := bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(2, kickOff.Add(hour), provider.Open)
	won := bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)

	rematch := bestshottest.Fixture(4, kickOff.Add(2*hour), provider.Open) // of the same home team, in round 2
	rematch.Home = first.Home

	renamed := first
	renamed.Home.Name = "Renamed"

	row := func(team provider.Team, points int) provider.Standing {
		return provider.Standing{Team: team, Position: 1, Points: points}
	}

	matches := func(round string, all ...provider.Fixture) func(ingest.Feed) ingest.Feed {
		return func(f ingest.Feed) ingest.Feed {
			f.Round.Slug, f.Fixtures = round, all
			return f
		}
	}

	standings := func(all ...provider.Standing) func(ingest.Feed) ingest.Feed {
		return func(f ingest.Feed) ingest.Feed {
			f.Kind, f.Standings = ingest.Standings, all
			return f
		}
	}

	for name, c := range map[string]struct {
		at   time.Time
		then func(ingest.Feed) ingest.Feed
	}{
		"a match ends": {played, matches("1", won)},
		"a match has another round, and a team another name": {kickOff.Add(7), matches("2", renamed, second)}, // 7 ns: the database has none
		"a table has other points, and a team another name":  {kickOff, standings(row(renamed.Home.Team, 3))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
				w := bestshottest.New(t)
				w.Register("ann")
				cup := w.Found("cup")
				w.Ingest(cup.Feed("1", first))
				w.Ingest(cup.Feed("2", second, rematch))
				w.Ingest(standings(row(first.Home.Team, 0))(cup.Feed("1")))
				w.Guess("ann", w.MatchID(1), 1, 0)

				pages := func() (all []string) {
					for _, page := range []string{"matches/1", "matches/2", "standings"} {
						out := w.Ask("ann", "GET", "/api/v2/tournaments/"+cup.ID+"/"+page, nil)
						all = append(all, fmt.Sprint(page, " ", out.StatusCode, " ", uuids.ReplaceAllString(out.Body, "id")))
					}

					return all
				}
				pages() // fills the cache

				w.MoveClock(c.at)
				f := c.then(cup.Feed("1"))

				err := testkit.OpenWith(w.World, w.CrashingEnv(ingest.IngestFeedFunction(), p), ingest.Open).IngestFeed(w.NewContext(), f)
				if p.Ended(err, dynamotest.CacheCall) { // the client survives the loss of what it asks a new connection
					awaitRollback(w, "outbox")
					testkit.Must(t, testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open).IngestFeed(w.NewContext(), f))
				}

				w.Settle()
				left, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM outbox`)
				testkit.Must(t, err)

				return []any{ledger(w), cup.Board("ann"), left, pages()}
			})
		})
	}
}

// uuids are the ids of rows, which differ between worlds.
var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
