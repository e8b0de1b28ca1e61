package activity_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// channelRequest is a user's request for an activity without a push token.
func channelRequest(matchID, user, team string) *activity.StartActivity {
	in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.TeamID = team

	return in
}

// listenTo lets the activities of these names listen to a channel.
func listenTo(w *crickettest.World, id string, names ...string) {
	w.T.Helper()

	for _, name := range names {
		if !w.Phones.Subscribe(crickettest.Token(name), id) {
			w.T.Fatalf("channel %q does not exist at Apple", id)
		}
	}
}

// discardMessages empties the queue of push-activities.
func discardMessages(w *crickettest.World) {
	w.T.Helper()
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
}

func TestActivityWithoutTokenGetsTheChannel(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)
	w.RegisterPhones("18.0", "first", "second", "other", "nobody's")
	a := w.Starter(w.Env(activity.StartActivityFunction()))
	got := map[string]string{}

	for _, c := range []struct{ user, team string }{{"first", "11"}, {"second", "11"}, {"other", "12"}, {"nobody's", ""}} {
		out, err := a.StartActivity(w.NewContext(), channelRequest("7", c.user, c.team))
		testkit.Must(t, err)

		if out.Status != 201 || out.Body.TeamID != c.team || out.Body.Channel == "" {
			t.Errorf("%s: the answer is %+v, want 201, no-store, the team and a channel", c.user, out)
		}

		got[c.user] = out.Body.Channel
		listenTo(w, out.Body.Channel, c.user)
	}

	if got["first"] != got["second"] || got["first"] == got["other"] || got["other"] == got["nobody's"] || len(w.Phones.Channels()) != 3 {
		t.Errorf("users got the channels %v, Apple has %v; want one for each of 3 perspectives", got, w.Phones.Channels())
	}

	if n := len(w.Subscribers()); n != 3 || len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)) != 0 {
		t.Errorf("%d activities are stored, want the 3 with a token; messages %+v, want none", n,
			testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue))
	}

	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
	w.ExpectPhones("after the broadcast", map[string]string{
		"first": want["local"], "second": want["local"], "other": want["visitor"], "nobody's": want["neutral"], "local": want["local"],
	}, false)
}

func TestConcurrentCallersShareOneChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)

	const n = 20

	var (
		mu    sync.Mutex
		group sync.WaitGroup
	)

	got := map[string]int{}

	for i := range n {
		user := fmt.Sprint("user ", i)
		w.RegisterPhones("18.1", user)
		a, done := w.Starter(w.Env(activity.StartActivityFunction())), w.Clock.Work() // one process for each user

		group.Go(func() {
			defer done()

			out, err := a.StartActivity(w.NewContext(), channelRequest("7", user, ""))
			if err != nil {
				t.Error(err)
				return
			}

			mu.Lock()
			defer mu.Unlock()

			got[out.Body.Channel]++
		})
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute)) // lets the waiting callers continue
	group.Wait()

	if len(got) != 1 || slices.Max(slices.Collect(maps.Values(got))) != n || len(w.Phones.Channels()) != 1 {
		t.Errorf("%d users got the channels %v, Apple has %v; want one", n, got, w.Phones.Channels())
	}
}

func TestChannelIsRefusedWithoutIOS18(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.RegisterPhones("17.6.1", "seventeen")
	w.RegisterPhones("", "unknown version")
	testkit.PutRows(w.World, tables.Devices,
		follower.DeviceRow{UserID: "expired", DeviceToken: crickettest.Token("old"), OSMajor: 18, ExpiresAt: w.Clock.Now().Unix()})
	w.RegisterPhones("18.0", "eighteen")

	a := w.Starter(w.Env(activity.StartActivityFunction()))
	for _, user := range []string{"seventeen", "unknown version", "expired", "without a phone"} {
		_, err := a.StartActivity(w.NewContext(), channelRequest("7", user, ""))
		if problem.Of(err) != problem.Conflict || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s: error %v, want a Conflict that asks for pushToken", user, err)
		}
	}

	if _, err := a.StartActivity(w.NewContext(), channelRequest("1", "eighteen", "")); problem.Of(err) != problem.NotFound {
		t.Errorf("a match that does not exist: error %v, want NotFound", err)
	}

	w.DecideEnd("7", 9)

	if _, err := a.StartActivity(w.NewContext(), channelRequest("7", "eighteen", "")); problem.Of(err) != problem.Conflict {
		t.Errorf("a match that is over: error %v, want Conflict", err)
	}

	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Errorf("%d channels and rows exist, want none", n)
	}
}

// If no channel can be created, the answer asks for a push token, and the claim is
// removed, so that the next caller can try at once.
func TestStartActivityAsksForATokenWithoutAChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.RegisterPhones("18.0", "fan")
	env := w.Env(activity.StartActivityFunction())
	keyless := w.Starter(env)

	keyless.Channels().Sender = func(context.Context) (*push.Sender, error) { return nil, errors.New("no secret") }
	for name, c := range map[string]struct {
		a    *activity.Activities
		kind problem.Kind
	}{
		"refused":             {w.Starter(env, func(c *push.Config) { c.KeyID = "ANOTHER" }), problem.Conflict},
		"offline":             {w.Starter(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" }), problem.Unavailable},
		"no host of channels": {w.Starter(env, func(c *push.Config) { c.ManageEndpoint = "https://127.0.0.1:1" }), problem.Unavailable},
		"keyless":             {keyless, problem.Unavailable},
	} {
		_, err := c.a.StartActivity(w.NewContext(), channelRequest("7", "fan", ""))
		if problem.Of(err) != c.kind || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s: error %v, want %v that asks for pushToken", name, err, c.kind)
		}

		if logged := slices.Contains(w.Logs.TakeWarnings(), "Apple refused to create a channel"); logged != (name == "refused") {
			t.Errorf("%s: the log has a refusal by Apple: %v", name, logged)
		}

		if left := testkit.Rows[activity.Channel](w.World, tables.Channels); len(left) > 0 {
			t.Errorf("%s: the rows %+v are left, want none", name, left)
		}
	}

	_, err := w.Starter(env).StartActivity(w.NewContext(), channelRequest("7", "fan", ""))
	testkit.Must(t, err)
}

// A second process gets the claim only after channelClaim. A process that lost its
// claim deletes the channel it created.
func TestClaimBelongsToOneProcessUntilItExpires(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.RegisterPhones("18.0", "fan")
	a := w.Starter(w.Env(activity.StartActivityFunction()))
	claim := activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.PutRows(w.World, tables.Channels, claim)

	if _, err := a.StartActivity(w.NewContext(), channelRequest("7", "fan", "")); problem.Of(err) != problem.Unavailable {
		t.Errorf("while another process has the claim: error %v, want Unavailable", err)
	}

	w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))

	sender := a.Channels().Sender

	a.Channels().Sender = func(ctx context.Context) (*push.Sender, error) {
		testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli() + 1})
		return sender(ctx)
	}
	if _, err := a.StartActivity(w.NewContext(), channelRequest("7", "fan", "")); problem.Of(err) != problem.Unavailable ||
		len(w.Phones.Channels()) != 0 {
		t.Errorf("after the claim is lost: error %v, channels %v; want Unavailable and none", err, w.Phones.Channels())
	}

	a.Channels().Sender = sender

	w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))
	out, err := a.StartActivity(w.NewContext(), channelRequest("7", "fan", ""))
	testkit.Must(t, err)

	if got := testkit.Row[activity.Channel](w.World, tables.Channels, "7", match.Neutral); got.ChannelID != out.Body.Channel ||
		len(w.Phones.Channels()) != 1 {
		t.Errorf("the row is %+v, Apple has %v; want the channel %s only", got, w.Phones.Channels(), out.Body.Channel)
	}
}

// A channel that nobody gets, and that cannot be deleted, is left to sweep-channels: the log
// has it, with the match.
func TestUnusedChannelIsLogged(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.RegisterPhones("18.0", "fan")
	env := w.Env(activity.StartActivityFunction())
	table := env.AWS.HTTPClient

	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if len(w.Phones.Channels()) > 0 { // the id is to be stored: another process has the claim, and Apple is gone
			testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli() + 1})
			_ = w.Phones.Close()
		}

		return table.Do(r)
	})
	if _, err := w.Starter(env).StartActivity(w.NewContext(), channelRequest("7", "fan", "")); problem.Of(err) != problem.Unavailable {
		t.Errorf("error %v, want Unavailable", err)
	}

	got := w.Logs.Find(slog.LevelWarn, "an unused channel could not be deleted: sweep-channels will delete it")
	if len(got) != 1 || got[0]["match"] != "7" || got[0]["err"] == nil {
		t.Errorf("the log has %v, want the match and the reason", got)
	}
}

// TestPushIsRetriedWithoutApple: while Apple cannot be reached the message is sent again, and
// the log has the reason.
func TestPushIsRetriedWithoutApple(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	discardMessages(w)
	testkit.Must(t, w.Phones.Close())
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	if got := w.Logs.Find(slog.LevelWarn, "cannot connect to Apple"); len(got) != 1 || got[0]["err"] == nil {
		t.Errorf("the log has %v, want the reason", got)
	}

	if got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); len(got) != 1 || got[0].Try != 1 {
		t.Errorf("the messages are %+v, want the same with try 1", got)
	}

	if n := w.Logs.SumMetric(tables.AppleFailures); n != 1 {
		t.Errorf("%v failures of Apple are counted, want 1", n)
	}
}

// If the end of the match is decided while its channel is opened, the caller gets no
// channel, because the end may not be broadcast to it.
func TestChannelIsNotOpenedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.RegisterPhones("18.0", "fan")
	a := w.Starter(w.Env(activity.StartActivityFunction()))
	sender := a.Channels().Sender

	a.Channels().Sender = func(ctx context.Context) (*push.Sender, error) {
		w.DecideEnd("7", 9)
		return sender(ctx)
	}
	if _, err := a.StartActivity(w.NewContext(), channelRequest("7", "fan", "")); !errors.Is(err, match.ErrMatchOver) {
		t.Errorf("error %v, want ErrMatchOver", err)
	}

	w.MoveClock(crickettest.At(9).Add(activity.SweepAfter))
	testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction())).SweepChannels(w.NewContext()))

	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Errorf("%d channels and rows are left after the sweep, want none", n)
	}
}

// A change costs the same number of calls for one listener and for a thousand.
func TestBroadcastCostIsIndependentOfListeners(t *testing.T) {
	t.Parallel()

	cost := func(listeners int) (calls, answers map[string]int) {
		w := crickettest.New(t).WithPhones()
		f := w.AddFixture("7")

		id := w.OpenChannel("7", match.Neutral)
		for i := range listeners {
			listenTo(w, id, fmt.Sprint(i))
		}

		w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
		w.TickAt(w.Ticker(), 1)
		p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
		before := w.Phones.Counts()
		calls = w.CountCalls(func() { w.DrainPushes(time.Second, p) })

		answers = w.Phones.Counts()
		for what, n := range before {
			answers[what] -= n
		}

		for i := range listeners {
			if pushCount(w, fmt.Sprint(i)) != 1 {
				t.Fatalf("listener %d of %d got %d pushes, want 1", i, listeners, pushCount(w, fmt.Sprint(i)))
			}
		}

		return calls, answers
	}
	calls1, answers1 := cost(1)

	calls1000, answers1000 := cost(1000)
	if !maps.Equal(calls1, calls1000) || !maps.Equal(answers1, answers1000) || answers1["200"] != 1 {
		t.Errorf("calls of one listener and of a thousand differ:\n%sanswers:\n%s(want one 200)", cmp.Diff(calls1, calls1000),
			cmp.Diff(answers1, answers1000))
	}
}

func TestChannelsAreClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)
	id := w.OpenChannel("7", "11")
	// has expired at the end
	testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli()})
	listenTo(w, id, "listener", "away")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DecideEnd("7", 40)

	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
		w.ExpectPhones("after the end", map[string]string{"listener": want["local"], "local": want["local"], "visitor": want["visitor"]}, true)
	}

	closing := w.Queues.Messages(tables.ActivityQueue.Name)
	if len(closing) != 2 || closing[0].Visible.Sub(w.Clock.Now()) != activity.EndAgainAfter[0] {
		t.Fatalf("the messages are %+v, want 2 that are visible after %v", closing, activity.EndAgainAfter[0])
	}

	for i, after := range activity.EndAgainAfter {
		if n := len(w.Phones.Channels()); n != 1 {
			t.Errorf("before the broadcast %d Apple has %d channels, want 1", i, n)
		}

		name := fmt.Sprint("late ", i)
		listenTo(w, id, name) // Apple stores no end for it

		if n := w.DrainPushes(after, p); n != 2 {
			t.Errorf("%d messages were handled, want 2", n)
		}

		w.ExpectPhones("after the next broadcast of the end", map[string]string{name: want["local"]}, true)
	}

	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Errorf("Apple has %v, the rows are %+v; want none", w.Phones.Channels(), testkit.Rows[activity.Channel](w.World, tables.Channels))
	}

	if d, _ := w.Phones.Device(crickettest.Token("listener")); d.AfterEnd != 8 {
		t.Errorf("the listener got %d more pushes after the first end, want 1 of the second delivery, 3 of each and the last", d.AfterEnd)
	}
}

// TestStateIsBroadcastAgain: at a low priority, to channels alone, for phones that were offline. An
// end that was withdrawn is not broadcast.
func TestStateIsBroadcastAgain(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)

	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	calls := w.CountCalls(func() { testkit.Must(t, p.PushActivities(w.NewContext(), activity.Rebroadcast("7"))) })
	if diff := cmp.Diff(map[string]int{"GetItem": 1, "Query": 1}, calls); diff != "" {
		t.Errorf("calls for a match without channels (-want +got):\n%s", diff)
	}

	listenTo(w, w.OpenChannel("7", "11"), "listener")
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.Rebroadcast("7")))
	w.ExpectPhones("after the broadcast", map[string]string{"listener": want["local"]}, false)

	for _, m := range []activity.MatchChanged{{MatchID: "7", Ended: 1}, {MatchID: "7", Ended: 1, Channels: activity.CloseChannels}} {
		testkit.Must(t, p.PushActivities(w.NewContext(), m))
	}

	w.ExpectPhones("of a match that is open again", map[string]string{"listener": want["local"]}, false)

	if got := []int{pushCount(w, "listener"), pushCount(w, "local"), len(w.Phones.Channels())}; !slices.Equal(got, []int{1, 0, 1}) {
		t.Errorf("the pushes to the channel and by token, and the channels are %v, want 1, 0 and 1", got)
	}

	w.DecideEnd("7", 40)
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.Rebroadcast("7")))

	if n := pushCount(w, "listener"); n != 1 {
		t.Errorf("after the end the listener has %d pushes, want 1", n)
	}
}

// A channel that cannot be reached does not block the pushes to tokens. A failed
// broadcast of an update is dropped; that of an end is retried.
func TestUnreachableChannelDoesNotBlockTokens(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)
	id := w.OpenChannel("7", match.Neutral)
	listenTo(w, id, "listener")
	env := w.Env(activity.PushActivitiesFunction())
	offline := w.Pusher(env, func(c *push.Config) { c.BroadcastEndpoint = "https://127.0.0.1:1" })
	testkit.Must(t, offline.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
	w.ExpectPhones("by token", want, false)

	if n := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)); n != 0 || pushCount(w, "listener") != 0 {
		t.Errorf("after an update: %d messages, %d pushes to the listener; want none", n, pushCount(w, "listener"))
	}

	w.DecideEnd("7", 40)
	testkit.Must(t, offline.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
	w.ExpectPhones("by token", want, true)
	w.DrainPushes(time.Minute, offline)

	got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)
	if i := slices.IndexFunc(got, func(m activity.MatchChanged) bool {
		return m.Channels == activity.BroadcastEnd
	}); len(got) != 2 || i < 0 || got[i].Try < 3 {
		t.Fatalf("the messages are %+v, want 2, one of them the third or a later retry of the end", got)
	}

	testkit.Drain(w.World, tables.ActivityQueue, 5*time.Minute, w.Pusher(env).PushActivities)
	w.ExpectPhones("by channel", map[string]string{"listener": want["neutral"]}, true)
}

// A channel that no longer exists at Apple is replaced, unless it is so recent that
// Apple may not know it yet.
func TestUnknownChannelIsReplaced(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	discardMessages(w)
	w.RegisterPhones("18.0", "fan")
	env := w.Env(activity.PushActivitiesFunction())
	p := w.Pusher(env)

	id := w.OpenChannel("7", match.Neutral)
	for _, id := range []string{id, w.OpenChannel("7", "11"), w.OpenChannel("7", "12")} {
		testkit.Must(t, (*p.Sender()).DeleteChannel(t.Context(), id))
	}

	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	if rows := testkit.Rows[activity.Channel](w.World, tables.Channels); len(rows) != 3 {
		t.Errorf("of three recent channels the rows are %+v", rows)
	}

	w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	if rows := testkit.Rows[activity.Channel](w.World, tables.Channels); len(rows) != 0 {
		t.Errorf("the rows %+v of unknown channels are left", rows)
	}

	out, err := w.Starter(w.Env(activity.StartActivityFunction())).StartActivity(w.NewContext(), channelRequest("7", "fan", ""))
	testkit.Must(t, err)

	if out.Body.Channel == id || w.Phones.Channels()[out.Body.Channel] != 0 || len(w.Phones.Channels()) != 1 {
		t.Errorf("the channel %q replaces %q, Apple has %v; want a new one only", out.Body.Channel, id, w.Phones.Channels())
	}
}

// TestUnknownChannelIsKeptByAnError: a message fails if it cannot remove the row of a channel
// that Apple does not know, so that the next delivery removes it.
func TestUnknownChannelIsKeptByAnError(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	discardMessages(w)
	w.OpenChannel("7", match.Neutral)
	row := testkit.Rows[activity.Channel](w.World, tables.Channels)[0]
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Must(t, (*p.Sender()).DeleteChannel(t.Context(), row.ChannelID))
	w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))
	dynamotest.CheckFailures(t, &w.IO, func() error {
		testkit.PutRows(w.World, tables.Channels, row)
		return p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"})
	})

	if left := testkit.Rows[activity.Channel](w.World, tables.Channels); len(left) != 0 {
		t.Errorf("the rows %+v are left, want none", left)
	}
}

// channelState is the state of all channels without their ids: the perspectives that
// have a channel, the number of claims, and the number of channels without a row.
type channelState struct {
	Open    []string
	Claimed int
	NoRow   int
	Phones  map[string]string
}

func channelStateOf(w *crickettest.World) channelState {
	w.T.Helper()
	s := channelState{Phones: w.Outcome().Phones}
	at := w.Phones.Channels()
	s.NoRow = len(at)

	for _, row := range testkit.Rows[activity.Channel](w.World, tables.Channels) {
		if row.ChannelID == "" {
			s.Claimed++
			continue
		}

		listeners, ok := at[row.ChannelID]
		if ok {
			s.NoRow--
		}

		s.Open = append(s.Open, fmt.Sprint(row.MatchID, " as ", row.View, " listeners ", listeners, " at Apple ", ok))
	}

	slices.Sort(s.Open)

	return s
}

func TestChannelIsOpenedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) channelState {
		w, _, _ := worldWithActivities(t)
		w.RegisterPhones("18.0", "fan")

		in := channelRequest("7", "fan", "11")
		again := w.Starter(w.Env(activity.StartActivityFunction()))

		out, err := w.Starter(w.CrashingEnv(activity.StartActivityFunction(), p)).StartActivity(w.NewContext(), in)
		if p.Ended(err) {
			out, err = again.StartActivity(w.NewContext(), in)
		}

		if problem.Of(err) == problem.Unavailable { // the caller may try again
			w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))
			out, err = again.StartActivity(w.NewContext(), in)
		}

		testkit.Must(t, err)
		listenTo(w, out.Body.Channel, "fan")
		testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction())).SweepChannels(w.NewContext()))
		w.DrainPushes(time.Minute, w.Pusher(w.Env(activity.PushActivitiesFunction())))

		return channelStateOf(w)
	})
}

func TestChannelEndIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()

	for _, step := range []string{"", activity.CloseChannels} {
		t.Run("step "+step, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) channelState {
				w, _, _ := worldWithActivities(t)
				discardMessages(w)

				for _, view := range []string{"11", match.Neutral} {
					listenTo(w, w.OpenChannel("7", view), "listener as "+view)
				}

				w.DecideEnd("7", 40)

				m := activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix(), Channels: step}

				again := w.Pusher(w.Env(activity.PushActivitiesFunction()))
				if p.Ended(w.Pusher(w.CrashingEnv(activity.PushActivitiesFunction(), p)).PushActivities(w.NewContext(), m)) {
					testkit.Must(t, again.PushActivities(w.NewContext(), m))
				}

				w.DrainPushes(activity.CloseAfter, again)

				return channelStateOf(w)
			})
		})
	}
}

// A perspective without a display, which expires before its channel, blocks no other.
func TestChannelWithoutADisplay(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)

	for view, name := range map[string]string{"11": "local", "12": "visitor"} {
		w.OpenChannel("7", view)
		listenTo(w, testkit.Row[activity.Channel](w.World, tables.Channels, "7", view).ChannelID, name+" listens")
		want[name+" listens"] = want[name]
	}

	testkit.Must(t, w.DeleteRow(tables.Displays, match.DisplayKey("7", "12")))

	want["visitor"], want["visitor listens"] = "", ""

	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
	w.ExpectPhones("of the other perspectives", want, false)

	if tokens := queuedTokens(w); len(tokens) != 0 {
		t.Errorf("%d activities without a display are retried, want none", len(tokens))
	}
}

// A channel that Apple refuses does not block the pushes to tokens.
func TestRefusedBroadcastDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)
	testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ChannelID: "no base64!"})
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
	w.ExpectPhones("by token", want, false)

	if !slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool {
		return l.Text == "a broadcast failed" && l.Attrs["match"] == "7" && l.Attrs["view"] == match.Neutral && l.Attrs["err"] != nil
	}) {
		t.Error("the log does not name the match and the perspective of the broadcast, and the reason")
	}

	if got := w.Logs.TakeWarnings(); len(got) != 1 {
		t.Errorf("the log has the complaints %q, want 1", got)
	}
}

// TestWaitForAChannelEndsWithTheCaller: while another process has the claim, the error of an
// ended context is returned, and no empty channel.
func TestWaitForAChannelEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: "neutral", ClaimedAt: w.Clock.Now().UnixMilli()})
	env := w.Env(activity.StartActivityFunction())
	env.Sleep = func(context.Context, time.Time) error { return context.Canceled }

	channels := activity.NewActivities(env, nil).Channels()
	if id, err := channels.Open(w.NewContext(), "7", "neutral"); !errors.Is(err, context.Canceled) {
		t.Errorf("got the channel %q and %v, want %v", id, err, context.Canceled)
	}
}

func TestSenderIsOpenedOnce(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	env := w.Env(activity.StartActivityFunction())
	setting := env.Setting
	ready := false
	env.Setting = func(name string) string {
		if !ready {
			return ""
		}

		return setting(name)
	}

	open := activity.SenderOnce(env)
	if s, err := open(t.Context()); err == nil {
		t.Errorf("without settings the sender is %v, want an error", s)
	}

	ready = true
	first, err := open(t.Context())
	testkit.Must(t, err)

	if second, err := open(t.Context()); first == nil || second != first || err != nil {
		t.Errorf("the senders are %p and %p, %v; want one", first, second, err)
	}
}
