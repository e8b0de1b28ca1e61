package cricket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// pusher opens push-activities, with less patience for Apple.
func (w *world) pusher(env app.Env, change ...func(*push.Config)) *Pusher {
	w.T.Helper()
	return newPusher(env, w.sender(env, change...))
}

// sender is one with little patience, of a configuration that is changed.
func (w *world) sender(env app.Env, change ...func(*push.Config)) *push.Sender {
	w.T.Helper()
	c, err := push.ConfigOf(w.T.Context(), env, apnsKey, apnsBundle)
	testkit.Must(w.T, err)
	c.Connections, c.Backoff = 1, time.Microsecond
	for _, f := range change {
		f(&c)
	}
	s, err := push.Open(c)
	testkit.Must(w.T, err)
	w.T.Cleanup(s.Close)
	return s
}

// watched is a world with a match at its second ball, watched by a fan of each
// team and one of neither, and what they are shown.
func watched(t *testing.T) (w *world, f fixture, want map[string]string) {
	w = newWorld(t).withPhones()
	f = w.scripted("7")
	for name, team := range map[string]string{"local": "11", "visitor": "12", "neutral": ""} {
		w.subscribe("7", name, team)
	}
	w.says(saidOf(f, "1st Innings", ballSaid{id: 1, runs: 1}, ballSaid{id: 2, runs: 6}))
	w.tickAt(w.ticker(), 1)
	want = map[string]string{}
	for name, view := range map[string]string{"local": "11", "visitor": "12", "neutral": neutral} {
		want[name] = string(testkit.Row[shown](w.World, displays, displayKey("7", view)).Display)
	}
	return w, f, want
}

// expect holds what the phones show against want, by name.
func (w *world) expect(when string, want map[string]string, ended bool) {
	w.T.Helper()
	for name, state := range want {
		var got, wanted score.Display
		text, end := w.shows(name)
		if text == "" {
			w.T.Errorf("%s, the %s phone shows nothing", when, name)
			continue
		}
		testkit.Must(w.T, json.Unmarshal([]byte(text), &got))
		testkit.Must(w.T, json.Unmarshal([]byte(state), &wanted))
		if got.Hash() != wanted.Hash() || end != ended {
			w.T.Errorf("%s, the %s phone shows %s, ended %v; want %s, %v", when, name, text, end, state, ended)
		}
	}
}

// pushes is how many pushes a phone has got.
func (w *world) pushes(name string) int {
	d, _ := w.phones.Device(token(name))
	return d.Pushes
}

func (w *world) subscribed() (names []string) {
	for _, s := range testkit.Rows[subscription](w.World, subscriptions) {
		names = append(names, s.UserID)
	}
	slices.Sort(names)
	return names
}

func TestPushToEachPerspective(t *testing.T) {
	t.Parallel()
	w, f, want := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	w.expect("after the push", want, false)
	if want["local"] == want["visitor"] || want["local"] == want["neutral"] {
		t.Errorf("the perspectives are alike: %q", want)
	}
	d, _ := w.phones.Device(token("local"))
	if !d.Timestamp.Equal(at(1).Truncate(time.Second)) || !d.Stale.Equal(d.Timestamp.Add(staleAfter)) {
		t.Errorf("the state is of %v, stale at %v", d.Timestamp, d.Stale)
	}
	w.says(saidOf(f, "Int.", ballSaid{id: 1, runs: 1}, ballSaid{id: 2, runs: 6}))
	w.tickAt(w.ticker(), 2)
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	if d, _ := w.phones.Device(token("local")); !d.Stale.IsZero() {
		t.Errorf("a state in the rain goes stale at %v", d.Stale)
	}
}

func TestPushLeavesSupersededToTheLaterMessage(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	old := MatchChanged{MatchID: "7", Slot: slotOf(at(0)), Changed: []string{"11", "12", neutral}}
	calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), old)) })
	if got := map[string]int{"GetItem": 4}; !maps.Equal(calls, got) || len(w.phones.Tokens()) > 0 {
		t.Errorf("a superseded message makes the calls %v, and pushes to %d phones", calls, len(w.phones.Tokens()))
	}
	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.Ctx(), testkit.Messages[MatchChanged](w.World, activityQueue)[0]))
		w.expect("after the later message", want, false)
	}
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.subscribe("7", "unregistered", "")
	w.subscribe("7", "bad", "11")
	w.To(w.Clock.Now().Add(time.Minute))
	again := w.subscribe("7", "registered again", "12")
	w.phones.Answer(token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.phones.Answer(token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	dead := apns.Refuse(apns2.ReasonUnregistered)
	dead.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.phones.Answer(token("registered again"), dead)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	w.expect("beside dead tokens", want, false)
	if got := w.subscribed(); !slices.Equal(got, []string{"local", "neutral", "registered again", "visitor"}) {
		t.Errorf("%q are left", got)
	}

	// One that is registered while Apple answers is not removed either.
	testkit.Must(t, p.RemoveDead(w.Ctx(), "7", token("local"), 5))
	if !slices.Contains(w.subscribed(), "local") {
		t.Error("a subscription that was registered since it was read is gone")
	}
}

func TestUnreachedTokensAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, ended := range []int64{0, at(9).Unix()} {
		t.Run(fmt.Sprint("ended ", ended != 0), func(t *testing.T) {
			t.Parallel()
			w, _, want := watched(t)
			w.phones.Answer(token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
			p := w.pusher(w.Env(PushActivitiesFunction))
			change := testkit.Messages[MatchChanged](w.World, activityQueue)[0]
			testkit.Drain(w.World, activityQueue, time.Second, func(context.Context, MatchChanged) error { return nil })
			if change.Ended = ended; ended != 0 {
				change = MatchChanged{MatchID: "7", Ended: ended}
			}
			testkit.Must(t, p.PushActivities(w.Ctx(), change))
			w.expect("without the unreached", map[string]string{"neutral": want["neutral"], "visitor": want["visitor"]}, ended != 0)
			got := w.Queues.Messages(activityQueue.Name)
			if len(got) != 1 || got[0].Visible.Sub(got[0].Sent) != retryDelay {
				t.Fatalf("%+v is sent, want one message after %v", got, retryDelay)
			}
			retry := testkit.Messages[MatchChanged](w.World, activityQueue)[0]
			if retry.Try != 1 || !slices.Equal(retry.Tokens, []string{token("local")}) || retry.Ended != ended || retry.Slot != 0 {
				t.Errorf("the message is %+v", retry)
			}
			before := w.pushes("visitor")
			w.phones.Answer(token("local"), append(slices.Repeat([]apns.Answer{func() apns.Answer {
				a := apns.Refuse(apns2.ReasonServiceUnavailable)
				a.Times = 1
				return a
			}()}, 20), apns.Answer{})...)
			if n := testkit.Drain(w.World, activityQueue, time.Minute, p.PushActivities); n != 3 {
				t.Errorf("%d messages were needed, want 3", n)
			}
			w.expect("when it can be reached", want, ended != 0)
			if w.pushes("visitor") != before {
				t.Error("the others are pushed to again")
			}

			// After maxTries it is left alone.
			w.phones.Answer(token("visitor"), apns.Refuse(apns2.ReasonServiceUnavailable))
			w.subscribe("7", "visitor", "12")
			testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Tokens: []string{token("visitor")}, Try: maxTries}))
			if left := testkit.Messages[MatchChanged](w.World, activityQueue); len(left) > 0 {
				t.Errorf("%+v is sent after the last try", left)
			}
		})
	}
}

func TestPushEnd(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	end := MatchChanged{MatchID: "7", Ended: at(40).Unix()}
	w.To(at(40))
	for n := range 2 {
		calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), end)) })
		w.expect("after the end", want, true)
		if left := w.subscribed(); left != nil || calls["DeleteItem"] > 0 || calls["BatchWriteItem"] != 1-n {
			t.Errorf("run %d leaves %q, with the calls %v", n, left, calls)
		}
	}
	d, _ := w.phones.Device(token("neutral"))
	if want := at(40).Add(dismissAfter); !d.Dismissal.Equal(want) || d.Pushes != 2 {
		t.Errorf("it is dismissed at %v after %d pushes, want %v after 2", d.Dismissal, d.Pushes, want)
	}
}

func TestPushSkipsTheExpired(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	s := w.subscribe("7", "expired", "")
	s.ExpiresAt = w.Clock.Now().Unix()
	testkit.Put(w.World, subscriptions, s)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	if w.pushes("expired") != 0 || w.pushes("neutral") != 1 {
		t.Error("an expired subscription was pushed to, or another was not")
	}
}

func TestPushToSomeTokens(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Tokens: []string{token("local"), token("neutral"), token("nobody")}}))
	w.expect("after a message to some", map[string]string{"local": want["local"], "neutral": want["neutral"]}, false)
	if w.pushes("visitor") != 0 {
		t.Error("another was pushed to")
	}
}

func TestPushManyPages(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	const n = 30
	for i := range n {
		testkit.Put(w.World, subscriptions, map[string]any{
			"matchId": "7", "pushToken": token(fmt.Sprint(i)), "userId": "u", "updatedAt": 1,
			"expiresAt": w.Clock.Now().Add(time.Hour).Unix(), "padding": strings.Repeat("x", 100_000), // ten a page
		})
	}
	p := w.pusher(w.Env(PushActivitiesFunction))
	calls := w.Count(func() { testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities) })
	if calls["Query"] < 3 {
		t.Errorf("%d pages were read, want 3 or more", calls["Query"])
	}
	for i := range n {
		if got := w.pushes(fmt.Sprint(i)); got != 1 {
			t.Errorf("phone %d got %d pushes", i, got)
		}
	}
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(9).Unix()}))
	if left := w.subscribed(); left != nil {
		t.Errorf("%d are left after the end", len(left))
	}
}

func TestPushRefused(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	w.phones.Answer("", apns.Refuse(apns2.ReasonInvalidProviderToken))
	err := p.PushActivities(w.Ctx(), testkit.Messages[MatchChanged](w.World, activityQueue)[0])
	if _, ok := errors.AsType[*push.Refused](err); !ok {
		t.Errorf("refused credentials give %v", err)
	}
	if len(w.subscribed()) != 3 {
		t.Error("subscriptions were removed")
	}
	if err := p.PushActivities(w.Ctx(), MatchChanged{MatchID: "8"}); problem.Of(err) != problem.Invalid {
		t.Errorf("a match that is not there gives %v, want an Invalid fault", err)
	}
}

// An activity that was registered while its match ended is ended, too.
func TestLateActivityIsEnded(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	w.To(at(40))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
	f := testkit.Row[fixture](w.World, fixtures, "7")
	f.EndingAt = at(40).Unix()
	testkit.Put(w.World, fixtures, f)
	w.subscribe("7", "late", "11")
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Tokens: []string{token("late")}}))
	if shown, ended := w.shows("late"); !ended {
		t.Errorf("it stays on the lock screen: %.60s", shown)
	}
}

// A change that is heard of after the end of its match ends the activities of
// those, too, whom it did not concern.
func TestLateChangeEndsAll(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.ends("7", 40)
	testkit.Must(t, w.pusher(w.Env(PushActivitiesFunction)).PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Slot: slotOf(at(1)), Changed: []string{"11"}}))
	w.expect("after the late change", want, true)
}

// An end outlasts an hour without Apple.
func TestEndIsTriedForHours(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	w.To(at(40))
	w.phones.Answer(token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(40).Unix()}))
	testkit.Drain(w.World, activityQueue, time.Hour, p.PushActivities)
	w.phones.Answer(token("local"))
	testkit.Drain(w.World, activityQueue, 4*time.Hour, p.PushActivities)
	if _, ended := w.shows("local"); !ended {
		t.Error("it was never ended")
	}
}

// A message without a match is for the dead-letter queue.
func TestMessageWithoutAMatch(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	for _, id := range []string{"", "x", "7\x00", "12345678901234567890"} {
		err := w.pusher(w.Env(PushActivitiesFunction)).PushActivities(w.Ctx(), MatchChanged{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("pushing to match %q: %v", id, err)
		}
		err = testkit.Open(w.World, FinishMatchFunction, OpenFinisher).FinishMatch(w.Ctx(), MatchLeft{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("finishing match %q: %v", id, err)
		}
	}
}

// crowd stores n activities of fans of neither team, by name.
func (w *world) crowd(matchID string, n int) (names []string) {
	w.T.Helper()
	all := make([]subscription, n)
	for i := range all {
		names = append(names, fmt.Sprint("fan ", i))
		all[i] = subscription{MatchID: matchID, PushToken: token(names[i]), UserID: names[i], UpdatedAt: 1, ExpiresAt: w.Clock.Now().Add(24 * time.Hour).Unix()}
	}
	testkit.Put(w.World, subscriptions, all...)
	return names
}

func TestCrowdIsPushedInParts(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	const n = 5000
	names := w.crowd("7", n)
	w.phones.Answer(token(names[0]), apns.Refuse(apns2.ReasonUnregistered))
	again := w.subscribe("7", names[1], "")
	dead := apns.Refuse(apns2.ReasonUnregistered)
	dead.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.phones.Answer(token(names[1]), dead)
	p := w.pusher(w.Env(PushActivitiesFunction))

	var whole, parts int
	handled := testkit.Drain(w.World, activityQueue, time.Second, func(ctx context.Context, m MatchChanged) error {
		if m.idRange == (idRange{}) {
			whole++
		} else if parts++; m.Slot == 0 || len(m.Changed) != 3 {
			t.Errorf("a part is sent as %+v", m)
		}
		return p.PushActivities(ctx, m)
	})
	if whole != 1 || parts < 2 || parts > 4 { // 3,000 in parts of 1,800
		t.Errorf("%d messages were handled, %d of them parts", handled, parts)
	}
	for i, name := range names[2:] {
		if got := w.pushes(name); got != 1 {
			t.Fatalf("phone %d got %d pushes", i, got)
		}
	}
	w.expect("in the crowd", map[string]string{"local": want["local"], "visitor": want["visitor"], names[n-1]: want["neutral"]}, false)
	left := w.subscribed()
	if len(left) != n+2 || slices.Contains(left, names[0]) || !slices.Contains(left, names[1]) {
		t.Errorf("%d are left", len(left))
	}

	// The end is cut up, too, and leaves nobody.
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(9).Unix()}))
	w.phones.Answer(token(names[1]))
	testkit.Drain(w.World, activityQueue, time.Second, p.PushActivities)
	if left := w.subscribed(); left != nil {
		t.Errorf("after the end %d are left", len(left))
	}
}

// A message that is delivered twice sends its parts twice; a superseded part does
// nothing.
func TestPartsAreSuperseded(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.pusher(w.Env(PushActivitiesFunction))
	old := MatchChanged{MatchID: "7", Slot: slotOf(at(0)), Changed: []string{neutral}, idRange: idRange{From: "3", Until: "7"}}
	calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), old)) })
	if want := map[string]int{"GetItem": 2}; !maps.Equal(calls, want) {
		t.Errorf("a superseded part makes the calls %v, want %v", calls, want)
	}
	for _, m := range []MatchChanged{
		{MatchID: "7", idRange: idRange{From: "7", Until: "3"}}, {MatchID: "7", idRange: idRange{From: "7", Until: "7"}},
		{MatchID: "7", Channels: closeChannels, Ended: 1},
	} {
		if err := p.PushActivities(w.Ctx(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%+v gives %v, want an Invalid fault", m, err)
		}
	}
}

// A state that is superseded while it is pushed is left to the later message from
// the next page on.
func TestRunIsSuperseded(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	w.crowd("7", 3*perPage)
	newer := testkit.Row[shown](w.World, displays, displayKey("7", neutral))
	newer.Slot++
	var once sync.Once
	w.phones.Observe = func(apns.Push) { once.Do(func() { testkit.Put(w.World, displays, newer) }) }
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Slot: newer.Slot - 1, Changed: []string{neutral}}))
	if got := len(w.phones.Tokens()); got == 0 || got > perPage {
		t.Errorf("%d phones got a superseded state, want one page at most", got)
	}
}

// A match that ends without ever having been shown ends its activities with its
// score, and without a score it forgets them.
func TestEndWithoutADisplay(t *testing.T) {
	t.Parallel()
	w, f, _ := watched(t)
	for _, view := range f.perspectives() {
		testkit.Must(t, w.Drop(displays, displayKey("7", view)))
	}
	w.scripted("8")
	w.subscribe("8", "scoreless", "11")
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
	for _, id := range []string{"7", "8"} {
		testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: id, Ended: at(9).Unix()}))
	}
	state := testkit.Row[cached](w.World, fixtureCache, "7")
	testkit.Must(t, state.decode())
	want := map[string]string{}
	for name, view := range map[string]string{"local": "11", "visitor": "12", "neutral": neutral} {
		text, err := json.Marshal(state.State.For(view))
		testkit.Must(t, err)
		want[name] = string(text)
	}
	w.expect("without a display", want, true)
	if left := w.subscribed(); left != nil || w.pushes("scoreless") != 0 {
		t.Errorf("%q are left, and the scoreless got %d pushes", left, w.pushes("scoreless"))
	}
	if got := w.Logs.Complaints(); len(got) != 1 || !strings.Contains(got[0], "nothing to show") {
		t.Errorf("logged: %q", got)
	}
}

// queued are the tokens of the messages that wait, in order, which must be in
// batches.
func (w *world) queued() (all []string) {
	w.T.Helper()
	for _, m := range testkit.Messages[MatchChanged](w.World, activityQueue) {
		if len(m.Tokens) > retryBatch {
			w.T.Errorf("a message is for %d tokens", len(m.Tokens))
		}
		all = append(all, m.Tokens...)
	}
	slices.Sort(all)
	return all
}

// While Apple reaches nobody, one page finds that out, and all are tried again
// later.
func TestPushWhileAppleIsAway(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]apns.Answer{"503": apns.Refuse(apns2.ReasonServiceUnavailable), "no answer": {Slow: 24 * time.Hour}} {
		for _, ended := range []int64{0, at(9).Unix()} {
			t.Run(fmt.Sprint(name, ", ended ", ended != 0), func(t *testing.T) {
				t.Parallel()
				w, _, want := watched(t)
				names := w.crowd("7", perMessage-3)
				w.silent()
				w.phones.Answer("", answer)
				tried := map[string]bool{}
				var mu sync.Mutex
				w.phones.Observe = func(p apns.Push) { mu.Lock(); defer mu.Unlock(); tried[p.Token] = true }
				p := w.pusher(w.Env(PushActivitiesFunction))
				p.patience = 500 * time.Millisecond
				testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: ended}))
				if len(tried) > perPage {
					t.Errorf("%d phones were tried", len(tried))
				}
				all := []string{token("local"), token("visitor"), token("neutral")}
				for _, name := range names {
					all = append(all, token(name))
				}
				slices.Sort(all)
				if got := w.queued(); !slices.Equal(got, all) {
					t.Errorf("%d of %d activities are tried again", len(got), len(all))
				}
				if left := w.subscribed(); len(left) != perMessage {
					t.Errorf("%d subscriptions are left", len(left))
				}
				w.phones.Answer("")
				p.patience = time.Minute
				testkit.Drain(w.World, activityQueue, time.Minute, p.PushActivities)
				want[names[0]], want[names[len(names)-1]] = want["neutral"], want["neutral"]
				w.expect("when Apple is back", want, ended != 0)
			})
		}
	}
}

// A run that is cut short has had those tried again whom its pages before did
// not reach.
func TestUnreachedOfAPageOutlastTheRun(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	names := w.crowd("7", 2*perPage)
	w.silent()
	first := slices.MinFunc(names, func(a, b string) int { return strings.Compare(token(a), token(b)) })
	w.phones.Answer(token(first), apns.Refuse(apns2.ReasonServiceUnavailable))
	ctx, cancel := context.WithCancel(w.Ctx())
	defer cancel()
	reached := map[string]bool{}
	var mu sync.Mutex
	w.phones.Observe = func(p apns.Push) {
		mu.Lock()
		defer mu.Unlock()
		if reached[p.Token] = true; len(reached) > perPage {
			cancel()
		}
	}
	if err := w.pusher(w.Env(PushActivitiesFunction)).PushActivities(ctx, MatchChanged{MatchID: "7"}); err == nil {
		t.Error("the run was not cut short")
	}
	if got := w.queued(); !slices.Equal(got, []string{token(first)}) {
		t.Errorf("%d activities are tried again, want that of the first page", len(got))
	}
}

// The unreached of a part are tried again by their tokens.
func TestUnreachedOfAPart(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.silent()
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.phones.Answer(token("local"), busy)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: at(9).Unix(), idRange: idRange{From: "0", Until: "f~"}}))
	testkit.Drain(w.World, activityQueue, time.Minute, p.PushActivities)
	w.expect("of the part", want, true)
}

// What no other push makes up for soon, Apple keeps for a token; for a channel it
// may keep nothing.
func TestKeptByApple(t *testing.T) {
	t.Parallel()
	w, f, _ := watched(t)
	w.onChannel(w.opened("7", neutral), "listener")
	p := w.pusher(w.Env(PushActivitiesFunction))
	balls := []ballSaid{{id: 1, runs: 1}, {id: 2, runs: 6}}
	var mu sync.Mutex
	for _, c := range []struct {
		status string
		ended  bool
		want   time.Duration // from the time of the push
	}{
		{"1st Innings", false, 0}, {"Innings Break", false, keptPause}, {"Int.", false, keptPause}, {"Stump Day 1", false, keptPause}, {"Aban.", false, keptPause},
		{"Aban.", true, keptEnd},
	} {
		w.To(w.Clock.Now().Add(slotLength))
		w.says(saidOf(f, c.status, balls...))
		w.tickAt(w.ticker(), int(w.Clock.Now().Sub(kickOff)/slotLength)+1)
		w.silent()
		m := MatchChanged{MatchID: "7"}
		now := w.Clock.Now()
		if c.ended {
			m.Ended = now.Unix()
		}
		want := "0"
		if c.want != 0 {
			want = fmt.Sprint(now.Add(c.want).Unix())
		}
		before, _ := w.phones.Device(token("listener"))
		n := 0
		w.phones.Observe = func(push apns.Push) {
			mu.Lock()
			defer mu.Unlock()
			if n++; !push.Broadcast && push.Expires != want || push.Status != 200 {
				t.Errorf("in %s, ended %v, Apple keeps it until %s, want %s: %+v", c.status, c.ended, push.Expires, want, push)
			}
		}
		testkit.Must(t, p.PushActivities(w.Ctx(), m))
		if d, _ := w.phones.Device(token("listener")); d.Pushes != before.Pushes+1 || n != 4 {
			t.Errorf("in %s, ended %v, there were %d pushes, and the listener got %d", c.status, c.ended, n, d.Pushes-before.Pushes)
		}
	}
}

// The end is newer than what was shown in the same second.
func TestEndIsTheNewest(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	shown := testkit.Row[shown](w.World, displays, displayKey("7", neutral))
	testkit.Must(t, w.pusher(w.Env(PushActivitiesFunction)).PushActivities(w.Ctx(), MatchChanged{MatchID: "7", Ended: shown.At}))
	if d, _ := w.phones.Device(token("neutral")); d.Timestamp.Unix() != shown.At+1 {
		t.Errorf("the end is of %d, what was shown before of %d", d.Timestamp.Unix(), shown.At)
	}
}
