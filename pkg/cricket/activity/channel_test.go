package activity_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// listening is a user's request for an activity on a channel.
func listening(matchID, user, team string) *activity.StartActivity {
	in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.TeamID = team
	return in
}

// onChannel has the activity of that name listen to a channel.
func onChannel(w *crickettest.World, id string, names ...string) {
	w.T.Helper()
	for _, name := range names {
		if !w.Phones.Subscribe(crickettest.Token(name), id) {
			w.T.Fatalf("Apple knows no channel %q", id)
		}
	}
}

// silent throws away what the queue of push-activities holds.
func silent(w *crickettest.World) {
	w.T.Helper()
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
}

func TestListen(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	silent(w)
	w.Owns("18.0", "first", "second", "other", "nobody's")
	a := w.Starter(w.Env(activity.StartActivityFunction))
	got := map[string]string{}
	for _, c := range []struct{ user, team string }{{"first", "11"}, {"second", "11"}, {"other", "12"}, {"nobody's", ""}} {
		out, err := a.StartActivity(w.Ctx(), listening("7", c.user, c.team))
		testkit.Must(t, err)
		if out.Status != 201 || out.CacheControl != httpapi.NoStore || out.Body.TeamID != c.team || out.Body.Channel == "" {
			t.Errorf("%s is answered %+v", c.user, out)
		}
		got[c.user] = out.Body.Channel
		onChannel(w, out.Body.Channel, c.user)
	}
	if got["first"] != got["second"] || got["first"] == got["other"] || got["other"] == got["nobody's"] || len(w.Phones.Channels()) != 3 {
		t.Errorf("the channels are %v, and Apple has %v", got, w.Phones.Channels())
	}
	if n := len(w.Subscribed()); n != 3 || len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)) != 0 {
		t.Errorf("%d activities are stored, and %+v sent", n, testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue))
	}
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7"}))
	w.Expect("after the broadcast", map[string]string{
		"first": want["local"], "second": want["local"], "other": want["visitor"], "nobody's": want["neutral"], "local": want["local"],
	}, false)
}

func TestListenersShareOneChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	const n = 20
	var mu sync.Mutex
	var group sync.WaitGroup
	got := map[string]int{}
	for i := range n {
		user := fmt.Sprint("user ", i)
		w.Owns("18.1", user)
		a, done := w.Starter(w.Env(activity.StartActivityFunction)), w.Clock.Work() // a process each
		group.Go(func() {
			defer done()
			out, err := a.StartActivity(w.Ctx(), listening("7", user, ""))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[out.Body.Channel]++
		})
	}
	w.To(w.Clock.Now().Add(time.Minute)) // the clock moves for those who wait
	group.Wait()
	if len(got) != 1 || slices.Max(slices.Collect(maps.Values(got))) != n || len(w.Phones.Channels()) != 1 {
		t.Errorf("%d users are given %v, and Apple has %v", n, got, w.Phones.Channels())
	}
}

func TestWhoCannotListen(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.Owns("17.6.1", "seventeen")
	w.Owns("", "untold")
	testkit.Put(w.World, tables.Devices, follower.DeviceRow{UserID: "expired", DeviceToken: crickettest.Token("old"), OSMajor: 18, ExpiresAt: w.Clock.Now().Unix()})
	w.Owns("18.0", "eighteen")
	a := w.Starter(w.Env(activity.StartActivityFunction))
	for _, user := range []string{"seventeen", "untold", "expired", "without a phone"} {
		_, err := a.StartActivity(w.Ctx(), listening("7", user, ""))
		if problem.Of(err) != problem.Conflict || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s gets %v", user, err)
		}
	}
	if _, err := a.StartActivity(w.Ctx(), listening("1", "eighteen", "")); problem.Of(err) != problem.NotFound {
		t.Errorf("a match that is not there gives %v", err)
	}
	w.Ends("7", 9)
	if _, err := a.StartActivity(w.Ctx(), listening("7", "eighteen", "")); problem.Of(err) != problem.Conflict {
		t.Errorf("a match that is over gives %v", err)
	}
	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Error("a channel was opened")
	}
}

// When Apple gives no channel the user is told to do without one, and the next
// may try at once.
func TestNoChannelToBeHad(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.Owns("18.0", "fan")
	env := w.Env(activity.StartActivityFunction)
	keyless := w.Starter(env)
	keyless.Channels().Sender = func(context.Context) (*push.Sender, error) { return nil, errors.New("no secret") }
	for name, c := range map[string]struct {
		a    *activity.Activities
		kind problem.Kind
	}{
		"refused": {w.Starter(env, func(c *push.Config) { c.KeyID = "ANOTHER" }), problem.Conflict},
		"away":    {w.Starter(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" }), problem.Unavailable},
		"keyless": {keyless, problem.Unavailable},
	} {
		_, err := c.a.StartActivity(w.Ctx(), listening("7", "fan", ""))
		if problem.Of(err) != c.kind || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s: %v", name, err)
		}
		if left := testkit.Rows[activity.Channel](w.World, tables.Channels); len(left) > 0 {
			t.Errorf("%s leaves %+v", name, left)
		}
	}
	_, err := w.Starter(env).StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
}

// A claim is another's until it is given up, and a channel that was made under a
// claim that was lost is deleted.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.Owns("18.0", "fan")
	a := w.Starter(w.Env(activity.StartActivityFunction))
	claim := activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.Put(w.World, tables.Channels, claim)
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); problem.Of(err) != problem.Unavailable {
		t.Errorf("while another makes it, it gives %v", err)
	}
	w.To(w.Clock.Now().Add(activity.ChannelClaim))
	lose := a.Channels().Sender
	a.Channels().Sender = func(ctx context.Context) (*push.Sender, error) {
		testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli() + 1})
		return lose(ctx)
	}
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); problem.Of(err) != problem.Unavailable || len(w.Phones.Channels()) != 0 {
		t.Errorf("a claim that is lost gives %v, and Apple has %v", err, w.Phones.Channels())
	}
	a.Channels().Sender = lose
	w.To(w.Clock.Now().Add(activity.ChannelClaim))
	out, err := a.StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
	if got := testkit.Row[activity.Channel](w.World, tables.Channels, "7", match.Neutral); got.ChannelID != out.Body.Channel || len(w.Phones.Channels()) != 1 {
		t.Errorf("the row is %+v, and Apple has %v", got, w.Phones.Channels())
	}
}

// A match whose end is decided while its channel is opened gives none: the end
// would not be told there.
func TestChannelIsNotOpenedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.Owns("18.0", "fan")
	a := w.Starter(w.Env(activity.StartActivityFunction))
	sender := a.Channels().Sender
	a.Channels().Sender = func(ctx context.Context) (*push.Sender, error) {
		w.Ends("7", 9)
		return sender(ctx)
	}
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); !errors.Is(err, match.ErrMatchOver) {
		t.Errorf("it gives %v", err)
	}
	w.To(crickettest.At(9).Add(activity.SweepAfter))
	testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction)).SweepChannels(w.Ctx()))
	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Error("the sweep leaves the channel")
	}
}

// A change costs the same whether one listens or a thousand.
func TestBroadcastCostsTheSame(t *testing.T) {
	t.Parallel()
	cost := func(listeners int) (calls, answers map[string]int) {
		w := crickettest.New(t).WithPhones()
		f := w.Scripted("7")
		id := w.Opened("7", match.Neutral)
		for i := range listeners {
			onChannel(w, id, fmt.Sprint(i))
		}
		w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
		w.TickAt(w.Ticker(), 1)
		p := w.Pusher(w.Env(activity.PushActivitiesFunction))
		before := w.Phones.Counts()
		calls = w.Count(func() { testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities) })
		answers = w.Phones.Counts()
		for what, n := range before {
			answers[what] -= n
		}
		for i := range listeners {
			if pushes(w, fmt.Sprint(i)) != 1 {
				t.Fatalf("listener %d of %d got %d pushes", i, listeners, pushes(w, fmt.Sprint(i)))
			}
		}
		return calls, answers
	}
	calls1, answers1 := cost(1)
	calls1000, answers1000 := cost(1000)
	if !maps.Equal(calls1, calls1000) || !maps.Equal(answers1, answers1000) || answers1["200"] != 1 {
		t.Errorf("one listener costs %v and %v, a thousand %v and %v", calls1, answers1, calls1000, answers1000)
	}
}

func TestChannelsAreClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	silent(w)
	id := w.Opened("7", "11")
	testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ClaimedAt: w.Clock.Now().UnixMilli()}) // given up by then
	onChannel(w, id, "listener", "away")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	w.Ends("7", 40)
	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
		w.Expect("after the end", map[string]string{"listener": want["local"], "local": want["local"], "visitor": want["visitor"]}, true)
	}
	onChannel(w, id, "late") // hears nothing of what was before
	closing := w.Queues.Messages(tables.ActivityQueue.Name)
	if len(closing) != 2 || closing[0].Visible.Sub(w.Clock.Now()) != activity.CloseAfter {
		t.Fatalf("%+v is sent", closing)
	}
	if n := testkit.Drain(w.World, tables.ActivityQueue, activity.CloseAfter, p.PushActivities); n != 2 {
		t.Errorf("%d messages were handled", n)
	}
	w.Expect("told again", map[string]string{"late": want["local"]}, true)
	if n := len(w.Phones.Channels()) + len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
		t.Errorf("Apple has %v, and the rows are %+v", w.Phones.Channels(), testkit.Rows[activity.Channel](w.World, tables.Channels))
	}
	if d, _ := w.Phones.Device(crickettest.Token("listener")); d.AfterEnd != 2 {
		t.Errorf("the listener was told of the end %d times more", d.AfterEnd)
	}
}

// Tokens are not kept from a push by a channel that cannot be reached; a lost
// update is left to the next, and an end tried again.
func TestUnreachedChannel(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	silent(w)
	id := w.Opened("7", match.Neutral)
	onChannel(w, id, "listener")
	env := w.Env(activity.PushActivitiesFunction)
	cut := w.Pusher(env, func(c *push.Config) { c.BroadcastEndpoint = "https://127.0.0.1:1" })
	testkit.Must(t, cut.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7"}))
	w.Expect("by token", want, false)
	if n := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)); n != 0 || pushes(w, "listener") != 0 {
		t.Errorf("%d messages are sent after an update", n)
	}
	w.Ends("7", 40)
	testkit.Must(t, cut.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
	w.Expect("by token", want, true)
	testkit.Drain(w.World, tables.ActivityQueue, time.Minute, cut.PushActivities)
	got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)
	if i := slices.IndexFunc(got, func(m activity.MatchChanged) bool { return m.Channels == activity.TellChannels }); len(got) != 2 || i < 0 || got[i].Try < 3 {
		t.Fatalf("%+v is sent", got)
	}
	testkit.Drain(w.World, tables.ActivityQueue, 5*time.Minute, w.Pusher(env).PushActivities)
	w.Expect("by channel", map[string]string{"listener": want["neutral"]}, true)
}

// A channel that is not there any more is replaced, once Apple must know it.
func TestForgottenChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	silent(w)
	w.Owns("18.0", "fan")
	env := w.Env(activity.PushActivitiesFunction)
	p := w.Pusher(env)
	id := w.Opened("7", match.Neutral)
	testkit.Must(t, (*p.Sender()).DeleteChannel(t.Context(), id))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7"}))
	if len(testkit.Rows[activity.Channel](w.World, tables.Channels)) != 1 {
		t.Error("a new channel is forgotten")
	}
	w.To(w.Clock.Now().Add(activity.ChannelClaim))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7"}))
	out, err := w.Starter(w.Env(activity.StartActivityFunction)).StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
	if out.Body.Channel == id || w.Phones.Channels()[out.Body.Channel] != 0 || len(w.Phones.Channels()) != 1 {
		t.Errorf("%q is given in place of %q, and Apple has %v", out.Body.Channel, id, w.Phones.Channels())
	}
}

// standing is what there is of channels, whatever their ids: the perspectives
// that have one, those that are claimed, and what Apple has beside.
type standing struct {
	Open    []string
	Claimed int
	Unnamed int
	Phones  map[string]string
}

func standingOf(w *crickettest.World) standing {
	w.T.Helper()
	s := standing{Phones: w.Outcome().Phones}
	at := w.Phones.Channels()
	s.Unnamed = len(at)
	for _, row := range testkit.Rows[activity.Channel](w.World, tables.Channels) {
		if row.ChannelID == "" {
			s.Claimed++
			continue
		}
		listeners, ok := at[row.ChannelID]
		if ok {
			s.Unnamed--
		}
		s.Open = append(s.Open, fmt.Sprint(row.MatchID, " as ", row.View, " listeners ", listeners, " at Apple ", ok))
	}
	slices.Sort(s.Open)
	return s
}

func TestListenCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) standing {
		w, _, _ := watched(t)
		w.Owns("18.0", "fan")
		in := listening("7", "fan", "11")
		w.Starter(w.Crashing(activity.StartActivityFunction, p)).StartActivity(w.Ctx(), in)
		again := w.Starter(w.Env(activity.StartActivityFunction))
		out, err := again.StartActivity(w.Ctx(), in)
		if problem.Of(err) == problem.Unavailable { // told to try again
			w.To(w.Clock.Now().Add(activity.ChannelClaim))
			out, err = again.StartActivity(w.Ctx(), in)
		}
		testkit.Must(t, err)
		onChannel(w, out.Body.Channel, "fan")
		testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction)).SweepChannels(w.Ctx()))
		testkit.Drain(w.World, tables.ActivityQueue, time.Minute, w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities)
		return standingOf(w)
	})
}

func TestChannelEndCrashes(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"", activity.CloseChannels} {
		t.Run("step "+step, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) standing {
				w, _, _ := watched(t)
				silent(w)
				for _, view := range []string{"11", match.Neutral} {
					onChannel(w, w.Opened("7", view), "listener as "+view)
				}
				w.Ends("7", 40)
				m := activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix(), Channels: step}
				w.Pusher(w.Crashing(activity.PushActivitiesFunction, p)).PushActivities(w.Ctx(), m)
				again := w.Pusher(w.Env(activity.PushActivitiesFunction))
				testkit.Must(t, again.PushActivities(w.Ctx(), m))
				testkit.Drain(w.World, tables.ActivityQueue, activity.CloseAfter, again.PushActivities)
				return standingOf(w)
			})
		})
	}
}

// A channel that Apple refuses costs no other push.
func TestRefusedBroadcast(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	silent(w)
	testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "7", View: match.Neutral, ChannelID: "no base64!"})
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7"}))
	w.Expect("by token", want, false)
	if got := w.Logs.Complaints(); len(got) != 1 {
		t.Errorf("logged: %q", got)
	}
}
