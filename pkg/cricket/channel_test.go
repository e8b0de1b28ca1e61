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

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo/dynamotest"
	"matchday/pkg/kit/fault"
	"matchday/pkg/kit/push"
)

// starter opens start-activity, with less patience for Apple.
func (w *world) starter(env app.Env, change ...func(*push.Config)) *Activities {
	w.t.Helper()
	a, err := OpenActivities(w.t.Context(), env)
	must(w.t, err)
	sender := w.sender(env, change...)
	a.channels.sender = func(context.Context) (*push.Sender, error) { return sender, nil }
	return a
}

// listening is a user's request for an activity on a channel.
func listening(matchID, user, team string) *StartActivity {
	in := &StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.TeamID = team
	return in
}

// owns registers a phone for each user.
func (w *world) owns(version string, users ...string) {
	w.t.Helper()
	for _, user := range users {
		w.put(devices, device{
			UserID: user, DeviceToken: token(user + "'s phone"), OSMajor: majorOf(version), ExpiresAt: w.clock.Now().Add(keepDevice).Unix(),
		})
	}
}

// onChannel has the activity of that name listen to a channel.
func (w *world) onChannel(id string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		if !w.phones.Subscribe(token(name), id) {
			w.t.Fatalf("Apple knows no channel %q", id)
		}
	}
}

// opened is the channel of a match and a perspective, with a row and at Apple.
func (w *world) opened(matchID, view string) string {
	w.t.Helper()
	id, err := w.sender(w.env(StartActivityFunction)).CreateChannel(w.t.Context(), push.KeepNothing)
	must(w.t, err)
	w.put(channelTable, channel{MatchID: matchID, View: view, ChannelID: id, ClaimedAt: w.clock.Now().UnixMilli()})
	return id
}

// silent throws away what the queue of push-activities holds.
func (w *world) silent() {
	w.t.Helper()
	drain(w, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
}

// ends has the end of a match decided at slot n, and told to push-activities.
func (w *world) ends(matchID string, n int) {
	w.t.Helper()
	w.to(at(n))
	f := row[fixture](w, getFixture, matchID)
	f.EndingAt, f.Live = at(n).Unix(), ""
	w.put(fixtures, f)
}

func TestListen(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.silent()
	w.owns("18.0", "first", "second", "other", "nobody's")
	a := w.starter(w.env(StartActivityFunction))
	got := map[string]string{}
	for _, c := range []struct{ user, team string }{{"first", "11"}, {"second", "11"}, {"other", "12"}, {"nobody's", ""}} {
		out, err := a.StartActivity(w.ctx(), listening("7", c.user, c.team))
		must(t, err)
		if out.Status != 201 || out.CacheControl != noStore || out.Body.TeamID != c.team || out.Body.Channel == "" {
			t.Errorf("%s is answered %+v", c.user, out)
		}
		got[c.user] = out.Body.Channel
		w.onChannel(out.Body.Channel, c.user)
	}
	if got["first"] != got["second"] || got["first"] == got["other"] || got["other"] == got["nobody's"] || len(w.phones.Channels()) != 3 {
		t.Errorf("the channels are %v, and Apple has %v", got, w.phones.Channels())
	}
	if n := len(w.subscribed()); n != 3 || len(messages[MatchChanged](w, activityQueue)) != 0 {
		t.Errorf("%d activities are stored, and %+v sent", n, messages[MatchChanged](w, activityQueue))
	}
	must(t, w.pusher(w.env(PushActivitiesFunction)).PushActivities(w.ctx(), MatchChanged{MatchID: "7"}))
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
		a, done := w.starter(w.env(StartActivityFunction)), w.clock.Work() // a process each
		group.Go(func() {
			defer done()
			out, err := a.StartActivity(w.ctx(), listening("7", user, ""))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[out.Body.Channel]++
		})
	}
	w.to(w.clock.Now().Add(time.Minute)) // the clock moves for those who wait
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
	w.put(devices, device{UserID: "expired", DeviceToken: token("old"), OSMajor: 18, ExpiresAt: w.clock.Now().Unix()})
	w.owns("18.0", "eighteen")
	a := w.starter(w.env(StartActivityFunction))
	for _, user := range []string{"seventeen", "untold", "expired", "without a phone"} {
		_, err := a.StartActivity(w.ctx(), listening("7", user, ""))
		if fault.Of(err) != fault.Conflict || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s gets %v", user, err)
		}
	}
	if _, err := a.StartActivity(w.ctx(), listening("1", "eighteen", "")); fault.Of(err) != fault.NotFound {
		t.Errorf("a match that is not there gives %v", err)
	}
	w.ends("7", 9)
	if _, err := a.StartActivity(w.ctx(), listening("7", "eighteen", "")); fault.Of(err) != fault.Conflict {
		t.Errorf("a match that is over gives %v", err)
	}
	if n := len(w.phones.Channels()) + len(rows[channel](w, channelTable)); n != 0 {
		t.Error("a channel was opened")
	}
}

// When Apple gives no channel the user is told to do without one, and the next
// may try at once.
func TestNoChannelToBeHad(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	env := w.env(StartActivityFunction)
	keyless := w.starter(env)
	keyless.channels.sender = func(context.Context) (*push.Sender, error) { return nil, errors.New("no secret") }
	for name, c := range map[string]struct {
		a    *Activities
		kind fault.Kind
	}{
		"refused": {w.starter(env, func(c *push.Config) { c.KeyID = "ANOTHER" }), fault.Conflict},
		"away":    {w.starter(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" }), fault.Unavailable},
		"keyless": {keyless, fault.Unavailable},
	} {
		_, err := c.a.StartActivity(w.ctx(), listening("7", "fan", ""))
		if fault.Of(err) != c.kind || !strings.Contains(err.Error(), "pushToken") {
			t.Errorf("%s: %v", name, err)
		}
		if left := rows[channel](w, channelTable); len(left) > 0 {
			t.Errorf("%s leaves %+v", name, left)
		}
	}
	_, err := w.starter(env).StartActivity(w.ctx(), listening("7", "fan", ""))
	must(t, err)
}

// A claim is another's until it is given up, and a channel that was made under a
// claim that was lost is deleted.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	a := w.starter(w.env(StartActivityFunction))
	claim := channel{MatchID: "7", View: neutral, ClaimedAt: w.clock.Now().UnixMilli()}
	w.put(channelTable, claim)
	if _, err := a.StartActivity(w.ctx(), listening("7", "fan", "")); fault.Of(err) != fault.Unavailable {
		t.Errorf("while another makes it, it gives %v", err)
	}
	w.to(w.clock.Now().Add(channelClaim))
	lose := a.channels.sender
	a.channels.sender = func(ctx context.Context) (*push.Sender, error) {
		w.put(channelTable, channel{MatchID: "7", View: neutral, ClaimedAt: w.clock.Now().UnixMilli() + 1})
		return lose(ctx)
	}
	if _, err := a.StartActivity(w.ctx(), listening("7", "fan", "")); fault.Of(err) != fault.Unavailable || len(w.phones.Channels()) != 0 {
		t.Errorf("a claim that is lost gives %v, and Apple has %v", err, w.phones.Channels())
	}
	a.channels.sender = lose
	w.to(w.clock.Now().Add(channelClaim))
	out, err := a.StartActivity(w.ctx(), listening("7", "fan", ""))
	must(t, err)
	if got := row[channel](w, claimChannel, "7", neutral); got.ChannelID != out.Body.Channel || len(w.phones.Channels()) != 1 {
		t.Errorf("the row is %+v, and Apple has %v", got, w.phones.Channels())
	}
}

// A match whose end is decided while its channel is opened gives none: the end
// would not be told there.
func TestChannelIsNotOpenedAtTheEnd(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.owns("18.0", "fan")
	a := w.starter(w.env(StartActivityFunction))
	sender := a.channels.sender
	a.channels.sender = func(ctx context.Context) (*push.Sender, error) {
		w.ends("7", 9)
		return sender(ctx)
	}
	if _, err := a.StartActivity(w.ctx(), listening("7", "fan", "")); !errors.Is(err, errMatchOver) {
		t.Errorf("it gives %v", err)
	}
	w.to(at(9).Add(sweepAfter))
	must(t, w.pusher(w.env(SweepChannelsFunction)).SweepChannels(w.ctx()))
	if n := len(w.phones.Channels()) + len(rows[channel](w, channelTable)); n != 0 {
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
		w.tickAt(open(w, TickFunction, OpenTicker), 1)
		p := w.pusher(w.env(PushActivitiesFunction))
		before := w.phones.Counts()
		calls = w.count(func() { drain(w, activityQueue, time.Second, p.PushActivities) })
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
	w.put(channelTable, channel{MatchID: "7", View: neutral, ClaimedAt: w.clock.Now().UnixMilli()}) // given up by then
	w.onChannel(id, "listener", "away")
	p := w.pusher(w.env(PushActivitiesFunction))
	w.ends("7", 40)
	for range 2 { // delivered twice
		must(t, p.PushActivities(w.ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
		w.expect("after the end", map[string]string{"listener": want["local"], "local": want["local"], "visitor": want["visitor"]}, true)
	}
	w.onChannel(id, "late") // hears nothing of what was before
	closing := w.queues.Messages(activityQueue.Name)
	if len(closing) != 2 || closing[0].Visible.Sub(w.clock.Now()) != closeAfter {
		t.Fatalf("%+v is sent", closing)
	}
	if n := drain(w, activityQueue, closeAfter, p.PushActivities); n != 2 {
		t.Errorf("%d messages were handled", n)
	}
	w.expect("told again", map[string]string{"late": want["local"]}, true)
	if n := len(w.phones.Channels()) + len(rows[channel](w, channelTable)); n != 0 {
		t.Errorf("Apple has %v, and the rows are %+v", w.phones.Channels(), rows[channel](w, channelTable))
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
	env := w.env(PushActivitiesFunction)
	cut := w.pusher(env)
	cut.sender = w.sender(env, func(c *push.Config) { c.BroadcastEndpoint = "https://127.0.0.1:1" })
	must(t, cut.PushActivities(w.ctx(), MatchChanged{MatchID: "7"}))
	w.expect("by token", want, false)
	if n := len(messages[MatchChanged](w, activityQueue)); n != 0 || w.pushes("listener") != 0 {
		t.Errorf("%d messages are sent after an update", n)
	}
	w.ends("7", 40)
	must(t, cut.PushActivities(w.ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
	w.expect("by token", want, true)
	drain(w, activityQueue, time.Minute, cut.PushActivities)
	got := messages[MatchChanged](w, activityQueue)
	if i := slices.IndexFunc(got, func(m MatchChanged) bool { return m.Channels == tellChannels }); len(got) != 2 || i < 0 || got[i].Try < 3 {
		t.Fatalf("%+v is sent", got)
	}
	drain(w, activityQueue, 5*time.Minute, w.pusher(env).PushActivities)
	w.expect("by channel", map[string]string{"listener": want["neutral"]}, true)
}

// A channel that is not there any more is replaced, once Apple must know it.
func TestForgottenChannel(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.silent()
	w.owns("18.0", "fan")
	env := w.env(PushActivitiesFunction)
	p := w.pusher(env)
	id := w.opened("7", neutral)
	must(t, p.sender.DeleteChannel(t.Context(), id))
	must(t, p.PushActivities(w.ctx(), MatchChanged{MatchID: "7"}))
	if len(rows[channel](w, channelTable)) != 1 {
		t.Error("a new channel is forgotten")
	}
	w.to(w.clock.Now().Add(channelClaim))
	must(t, p.PushActivities(w.ctx(), MatchChanged{MatchID: "7"}))
	out, err := w.starter(w.env(StartActivityFunction)).StartActivity(w.ctx(), listening("7", "fan", ""))
	must(t, err)
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
	w.t.Helper()
	s := standing{Phones: w.outcome().Phones}
	at := w.phones.Channels()
	s.Unnamed = len(at)
	for _, row := range rows[channel](w, channelTable) {
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
		w.starter(w.crashing(StartActivityFunction, p)).StartActivity(w.ctx(), in)
		again := w.starter(w.env(StartActivityFunction))
		out, err := again.StartActivity(w.ctx(), in)
		if fault.Of(err) == fault.Unavailable { // told to try again
			w.to(w.clock.Now().Add(channelClaim))
			out, err = again.StartActivity(w.ctx(), in)
		}
		must(t, err)
		w.onChannel(out.Body.Channel, "fan")
		must(t, w.pusher(w.env(SweepChannelsFunction)).SweepChannels(w.ctx()))
		drain(w, activityQueue, time.Minute, w.pusher(w.env(PushActivitiesFunction)).PushActivities)
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
				w.pusher(w.crashing(PushActivitiesFunction, p)).PushActivities(w.ctx(), m)
				again := w.pusher(w.env(PushActivitiesFunction))
				must(t, again.PushActivities(w.ctx(), m))
				drain(w, activityQueue, closeAfter, again.PushActivities)
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
	w.put(channelTable, channel{MatchID: "7", View: neutral, ChannelID: "no base64!"})
	must(t, w.pusher(w.env(PushActivitiesFunction)).PushActivities(w.ctx(), MatchChanged{MatchID: "7"}))
	w.expect("by token", want, false)
	if got := w.logs.complaints(); len(got) != 1 {
		t.Errorf("logged: %q", got)
	}
}
