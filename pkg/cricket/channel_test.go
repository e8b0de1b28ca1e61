package cricket

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

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// starter opens start-activity, with less patience for Apple.
func (w *world) starter(env app.Env, change ...func(*push.Config)) *Activities {
	w.T.Helper()
	sender := w.sender(env, change...)
	return newActivities(env, func(context.Context) (*push.Sender, error) { return sender, nil })
}

// listening is a user's request for an activity on a channel.
func listening(matchID, user, team string) *StartActivity {
	in := &StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.TeamID = team
	return in
}

// owns registers a phone for each user.
func (w *world) owns(version string, users ...string) {
	w.T.Helper()
	for _, user := range users {
		testkit.Put(w.World, devices, device{
			UserID: user, DeviceToken: token(user + "'s phone"), OSMajor: majorOf(version), ExpiresAt: w.Clock.Now().Add(push.KeepDevice).Unix(),
		})
	}
}

// onChannel has the activity of that name listen to a channel.
func (w *world) onChannel(id string, names ...string) {
	w.T.Helper()
	for _, name := range names {
		if !w.phones.Subscribe(token(name), id) {
			w.T.Fatalf("Apple knows no channel %q", id)
		}
	}
}

// opened is the channel of a match and a perspective, with a row and at Apple.
func (w *world) opened(matchID, view string) string {
	w.T.Helper()
	id, err := w.sender(w.Env(StartActivityFunction)).CreateChannel(w.T.Context(), push.KeepNothing)
	testkit.Must(w.T, err)
	testkit.Put(w.World, channelTable, channel{MatchID: matchID, View: view, ChannelID: id, ClaimedAt: w.Clock.Now().UnixMilli()})
	return id
}

// silent throws away what the queue of push-activities holds.
func (w *world) silent() {
	w.T.Helper()
	testkit.Drain(w.World, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
}

// ends has the end of a match decided at slot n, and told to push-activities.
func (w *world) ends(matchID string, n int) {
	w.T.Helper()
	w.To(at(n))
	f := testkit.Row[fixture](w.World, fixtures, matchID)
	f.EndingAt, f.Live = at(n).Unix(), ""
	testkit.Put(w.World, fixtures, f)
}

func TestListen(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.silent()
	w.owns("18.0", "first", "second", "other", "nobody's")
	a := w.starter(w.Env(StartActivityFunction))
	got := map[string]string{}
	for _, c := range []struct{ user, team string }{{"first", "11"}, {"second", "11"}, {"other", "12"}, {"nobody's", ""}} {
		out, err := a.StartActivity(w.Ctx(), listening("7", c.user, c.team))
		testkit.Must(t, err)
		if out.Status != 201 || out.CacheControl != httpapi.NoStore || out.Body.TeamID != c.team || out.Body.Channel == "" {
			t.Errorf("%s is answered %+v", c.user, out)
		}
		got[c.user] = out.Body.Channel
		w.onChannel(out.Body.Channel, c.user)
	}
	if got["first"] != got["second"] || got["first"] == got["other"] || got["other"] == got["nobody's"] || len(w.phones.Channels()) != 3 {
		t.Errorf("the channels are %v, and Apple has %v", got, w.phones.Channels())
	}
	if n := len(w.subscribed()); n != 3 || len(testkit.Messages[MatchChanged](w.World, activityQueue)) != 0 {
		t.Errorf("%d activities are stored, and %+v sent", n, testkit.Messages[MatchChanged](w.World, activityQueue))
	}
	testkit.Must(t, w.pusher(w.Env(PushActivitiesFunction)).PushActivities(w.Ctx(), MatchChanged{MatchID: "7"}))
	w.expect("after the broadcast", map[string]string{
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
		w.owns("18.1", user)
		a, done := w.starter(w.Env(StartActivityFunction)), w.Clock.Work() // a process each
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
	if len(got) != 1 || slices.Max(slices.Collect(maps.Values(got))) != n || len(w.phones.Channels()) != 1 {
		t.Errorf("%d users are given %v, and Apple has %v", n, got, w.phones.Channels())
	}
}

func TestWhoCannotListen(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("17.6.1", "seventeen")
	w.owns("", "untold")
	testkit.Put(w.World, devices, device{UserID: "expired", DeviceToken: token("old"), OSMajor: 18, ExpiresAt: w.Clock.Now().Unix()})
	w.owns("18.0", "eighteen")
	a := w.starter(w.Env(StartActivityFunction))
	for _, user := range []string{"seventeen", "untold", "expired", "without a phone"} {
		_, err := a.StartActivity(w.Ctx(), listening("7", user, ""))
		if problem.Of(err) != problem.Conflict || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s gets %v", user, err)
		}
	}
	if _, err := a.StartActivity(w.Ctx(), listening("1", "eighteen", "")); problem.Of(err) != problem.NotFound {
		t.Errorf("a match that is not there gives %v", err)
	}
	w.ends("7", 9)
	if _, err := a.StartActivity(w.Ctx(), listening("7", "eighteen", "")); problem.Of(err) != problem.Conflict {
		t.Errorf("a match that is over gives %v", err)
	}
	if n := len(w.phones.Channels()) + len(testkit.Rows[channel](w.World, channelTable)); n != 0 {
		t.Error("a channel was opened")
	}
}

// When Apple gives no channel the user is told to do without one, and the next
// may try at once.
func TestNoChannelToBeHad(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	env := w.Env(StartActivityFunction)
	keyless := w.starter(env)
	keyless.channels.sender = func(context.Context) (*push.Sender, error) { return nil, errors.New("no secret") }
	for name, c := range map[string]struct {
		a    *Activities
		kind problem.Kind
	}{
		"refused": {w.starter(env, func(c *push.Config) { c.KeyID = "ANOTHER" }), problem.Conflict},
		"away":    {w.starter(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" }), problem.Unavailable},
		"keyless": {keyless, problem.Unavailable},
	} {
		_, err := c.a.StartActivity(w.Ctx(), listening("7", "fan", ""))
		if problem.Of(err) != c.kind || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s: %v", name, err)
		}
		if left := testkit.Rows[channel](w.World, channelTable); len(left) > 0 {
			t.Errorf("%s leaves %+v", name, left)
		}
	}
	_, err := w.starter(env).StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
}

// A claim is another's until it is given up, and a channel that was made under a
// claim that was lost is deleted.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	a := w.starter(w.Env(StartActivityFunction))
	claim := channel{MatchID: "7", View: neutral, ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.Put(w.World, channelTable, claim)
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); problem.Of(err) != problem.Unavailable {
		t.Errorf("while another makes it, it gives %v", err)
	}
	w.To(w.Clock.Now().Add(channelClaim))
	lose := a.channels.sender
	a.channels.sender = func(ctx context.Context) (*push.Sender, error) {
		testkit.Put(w.World, channelTable, channel{MatchID: "7", View: neutral, ClaimedAt: w.Clock.Now().UnixMilli() + 1})
		return lose(ctx)
	}
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); problem.Of(err) != problem.Unavailable || len(w.phones.Channels()) != 0 {
		t.Errorf("a claim that is lost gives %v, and Apple has %v", err, w.phones.Channels())
	}
	a.channels.sender = lose
	w.To(w.Clock.Now().Add(channelClaim))
	out, err := a.StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
	if got := testkit.Row[channel](w.World, channelTable, "7", neutral); got.ChannelID != out.Body.Channel || len(w.phones.Channels()) != 1 {
		t.Errorf("the row is %+v, and Apple has %v", got, w.phones.Channels())
	}
}

// A match whose end is decided while its channel is opened gives none: the end
// would not be told there.
func TestChannelIsNotOpenedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	a := w.starter(w.Env(StartActivityFunction))
	sender := a.channels.sender
	a.channels.sender = func(ctx context.Context) (*push.Sender, error) {
		w.ends("7", 9)
		return sender(ctx)
	}
	if _, err := a.StartActivity(w.Ctx(), listening("7", "fan", "")); !errors.Is(err, errMatchOver) {
		t.Errorf("it gives %v", err)
	}
	w.To(at(9).Add(sweepAfter))
	testkit.Must(t, w.pusher(w.Env(SweepChannelsFunction)).SweepChannels(w.Ctx()))
	if n := len(w.phones.Channels()) + len(testkit.Rows[channel](w.World, channelTable)); n != 0 {
		t.Error("the sweep leaves the channel")
	}
}

// A change costs the same whether one listens or a thousand.
func TestBroadcastCostsTheSame(t *testing.T) {
	t.Parallel()
	cost := func(listeners int) (calls, answers map[string]int) {
		w := newWorld(t).withPhones()
		f := w.scripted("7")
		id := w.opened("7", neutral)
		for i := range listeners {
			w.onChannel(id, fmt.Sprint(i))
		}
		w.says(saidOf(f, "1st Innings", ballSaid{id: 1, runs: 1}))
		w.tickAt(w.ticker(), 1)
		p := w.pusher(w.Env(PushActivitiesFunction))
		before := w.phones.Counts()
		calls = w.Count(func() { testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities) })
		answers = w.phones.Counts()
		for what, n := range before {
			answers[what] -= n
		}
		for i := range listeners {
			if w.pushes(fmt.Sprint(i)) != 1 {
				t.Fatalf("listener %d of %d got %d pushes", i, listeners, w.pushes(fmt.Sprint(i)))
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
	w.silent()
	id := w.opened("7", "11")
	testkit.Put(w.World, channelTable, channel{MatchID: "7", View: neutral, ClaimedAt: w.Clock.Now().UnixMilli()}) // given up by then
	w.onChannel(id, "listener", "away")
	p := w.pusher(w.Env(PushActivitiesFunction))
	w.ends("7", 40)
	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
		w.expect("after the end", map[string]string{"listener": want["local"], "local": want["local"], "visitor": want["visitor"]}, true)
	}
	w.onChannel(id, "late") // hears nothing of what was before
	closing := w.Queues.Messages(activityQueue.Name)
	if len(closing) != 2 || closing[0].Visible.Sub(w.Clock.Now()) != closeAfter {
		t.Fatalf("%+v is sent", closing)
	}
	if n := testkit.Drain(w.World, activityQueue, closeAfter, p.PushActivities); n != 2 {
		t.Errorf("%d messages were handled", n)
	}
	w.expect("told again", map[string]string{"late": want["local"]}, true)
	if n := len(w.phones.Channels()) + len(testkit.Rows[channel](w.World, channelTable)); n != 0 {
		t.Errorf("Apple has %v, and the rows are %+v", w.phones.Channels(), testkit.Rows[channel](w.World, channelTable))
	}
	if d, _ := w.phones.Device(token("listener")); d.AfterEnd != 2 {
		t.Errorf("the listener was told of the end %d times more", d.AfterEnd)
	}
}

// Tokens are not kept from a push by a channel that cannot be reached; a lost
// update is left to the next, and an end tried again.
func TestUnreachedChannel(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.silent()
	id := w.opened("7", neutral)
	w.onChannel(id, "listener")
	env := w.Env(PushActivitiesFunction)
	cut := w.pusher(env, func(c *push.Config) { c.BroadcastEndpoint = "https://127.0.0.1:1" })
	testkit.Must(t, cut.PushActivities(w.Ctx(), MatchChanged{MatchID: "7"}))
	w.expect("by token", want, false)
	if n := len(testkit.Messages[MatchChanged](w.World, activityQueue)); n != 0 || w.pushes("listener") != 0 {
		t.Errorf("%d messages are sent after an update", n)
	}
	w.ends("7", 40)
	testkit.Must(t, cut.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
	w.expect("by token", want, true)
	testkit.Drain(w.World, activityQueue, time.Minute, cut.PushActivities)
	got := testkit.Messages[MatchChanged](w.World, activityQueue)
	if i := slices.IndexFunc(got, func(m MatchChanged) bool { return m.Channels == tellChannels }); len(got) != 2 || i < 0 || got[i].Try < 3 {
		t.Fatalf("%+v is sent", got)
	}
	testkit.Drain(w.World, activityQueue, 5*time.Minute, w.pusher(env).PushActivities)
	w.expect("by channel", map[string]string{"listener": want["neutral"]}, true)
}

// A channel that is not there any more is replaced, once Apple must know it.
func TestForgottenChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.silent()
	w.owns("18.0", "fan")
	env := w.Env(PushActivitiesFunction)
	p := w.pusher(env)
	id := w.opened("7", neutral)
	testkit.Must(t, p.sender.DeleteChannel(t.Context(), id))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7"}))
	if len(testkit.Rows[channel](w.World, channelTable)) != 1 {
		t.Error("a new channel is forgotten")
	}
	w.To(w.Clock.Now().Add(channelClaim))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7"}))
	out, err := w.starter(w.Env(StartActivityFunction)).StartActivity(w.Ctx(), listening("7", "fan", ""))
	testkit.Must(t, err)
	if out.Body.Channel == id || w.phones.Channels()[out.Body.Channel] != 0 || len(w.phones.Channels()) != 1 {
		t.Errorf("%q is given in place of %q, and Apple has %v", out.Body.Channel, id, w.phones.Channels())
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

func (w *world) standing() standing {
	w.T.Helper()
	s := standing{Phones: w.outcome().Phones}
	at := w.phones.Channels()
	s.Unnamed = len(at)
	for _, row := range testkit.Rows[channel](w.World, channelTable) {
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
		w.owns("18.0", "fan")
		in := listening("7", "fan", "11")
		w.starter(w.Crashing(StartActivityFunction, p)).StartActivity(w.Ctx(), in)
		again := w.starter(w.Env(StartActivityFunction))
		out, err := again.StartActivity(w.Ctx(), in)
		if problem.Of(err) == problem.Unavailable { // told to try again
			w.To(w.Clock.Now().Add(channelClaim))
			out, err = again.StartActivity(w.Ctx(), in)
		}
		testkit.Must(t, err)
		w.onChannel(out.Body.Channel, "fan")
		testkit.Must(t, w.pusher(w.Env(SweepChannelsFunction)).SweepChannels(w.Ctx()))
		testkit.Drain(w.World, activityQueue, time.Minute, w.pusher(w.Env(PushActivitiesFunction)).PushActivities)
		return w.standing()
	})
}

func TestChannelEndCrashes(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"", closeChannels} {
		t.Run("step "+step, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) standing {
				w, _, _ := watched(t)
				w.silent()
				for _, view := range []string{"11", neutral} {
					w.onChannel(w.opened("7", view), "listener as "+view)
				}
				w.ends("7", 40)
				m := MatchChanged{MatchID: "7", Ended: at(40).Unix(), Channels: step}
				w.pusher(w.Crashing(PushActivitiesFunction, p)).PushActivities(w.Ctx(), m)
				again := w.pusher(w.Env(PushActivitiesFunction))
				testkit.Must(t, again.PushActivities(w.Ctx(), m))
				testkit.Drain(w.World, activityQueue, closeAfter, again.PushActivities)
				return w.standing()
			})
		})
	}
}

// A channel that Apple refuses costs no other push.
func TestRefusedBroadcast(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.silent()
	testkit.Put(w.World, channelTable, channel{MatchID: "7", View: neutral, ChannelID: "no base64!"})
	testkit.Must(t, w.pusher(w.Env(PushActivitiesFunction)).PushActivities(w.Ctx(), MatchChanged{MatchID: "7"}))
	w.expect("by token", want, false)
	if got := w.Logs.Complaints(); len(got) != 1 {
		t.Errorf("logged: %q", got)
	}
}
