package activity_test

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

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// watched is a world with a match at its second ball, watched by a fan of each
// team and one of neither, and what they are shown.
func watched(t *testing.T) (w *crickettest.World, f match.Fixture, want map[string]string) {
	w = crickettest.New(t).WithPhones()
	f = w.Scripted("7")
	for name, team := range map[string]string{"local": "11", "visitor": "12", "neutral": ""} {
		w.Subscribe("7", name, team)
	}
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}, crickettest.Ball{ID: 2, Runs: 6}))
	w.TickAt(w.Ticker(), 1)
	want = map[string]string{}
	for name, view := range map[string]string{"local": "11", "visitor": "12", "neutral": match.Neutral} {
		want[name] = string(testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", view)).Display)
	}
	return w, f, want
}

// pushes is how many pushes a phone has got.
func pushes(w *crickettest.World, name string) int {
	d, _ := w.Phones.Device(crickettest.Token(name))
	return d.Pushes
}

func TestPushToEachPerspective(t *testing.T) {
	t.Parallel()
	w, f, want := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	w.Expect("after the push", want, false)
	if want["local"] == want["visitor"] || want["local"] == want["neutral"] {
		t.Errorf("the perspectives are alike: %q", want)
	}
	d, _ := w.Phones.Device(crickettest.Token("local"))
	if !d.Timestamp.Equal(crickettest.At(1).Truncate(time.Second)) || !d.Stale.Equal(d.Timestamp.Add(activity.StaleAfter)) {
		t.Errorf("the state is of %v, stale at %v", d.Timestamp, d.Stale)
	}
	w.SetPayload(crickettest.Payload(f, "Int.", crickettest.Ball{ID: 1, Runs: 1}, crickettest.Ball{ID: 2, Runs: 6}))
	w.TickAt(w.Ticker(), 2)
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	if d, _ := w.Phones.Device(crickettest.Token("local")); !d.Stale.IsZero() {
		t.Errorf("a state in the rain goes stale at %v", d.Stale)
	}
}

func TestPushLeavesSupersededToTheLaterMessage(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	old := activity.MatchChanged{MatchID: "7", Slot: match.SlotOf(crickettest.At(0)), Changed: []string{"11", "12", match.Neutral}}
	calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), old)) })
	if got := map[string]int{"GetItem": 4}; !maps.Equal(calls, got) || len(w.Phones.Tokens()) > 0 {
		t.Errorf("a superseded message makes the calls %v, and pushes to %d phones", calls, len(w.Phones.Tokens()))
	}
	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.Ctx(), testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]))
		w.Expect("after the later message", want, false)
	}
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.Subscribe("7", "unregistered", "")
	w.Subscribe("7", "bad", "11")
	w.To(w.Clock.Now().Add(time.Minute))
	again := w.Subscribe("7", "registered again", "12")
	w.Phones.Answer(crickettest.Token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.Phones.Answer(crickettest.Token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	dead := apns.Refuse(apns2.ReasonUnregistered)
	dead.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.Phones.Answer(crickettest.Token("registered again"), dead)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	w.Expect("beside dead tokens", want, false)
	if got := w.Subscribed(); !slices.Equal(got, []string{"local", "neutral", "registered again", "visitor"}) {
		t.Errorf("%q are left", got)
	}

	// One that is registered while Apple answers is not removed either.
	testkit.Must(t, p.RemoveDead(w.Ctx(), "7", crickettest.Token("local"), 5))
	if !slices.Contains(w.Subscribed(), "local") {
		t.Error("a subscription that was registered since it was read is gone")
	}
}

func TestUnreachedTokensAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, ended := range []int64{0, crickettest.At(9).Unix()} {
		t.Run(fmt.Sprint("ended ", ended != 0), func(t *testing.T) {
			t.Parallel()
			w, _, want := watched(t)
			w.Phones.Answer(crickettest.Token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
			p := w.Pusher(w.Env(activity.PushActivitiesFunction))
			change := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]
			testkit.Drain(w.World, tables.ActivityQueue, time.Second, func(context.Context, activity.MatchChanged) error { return nil })
			if change.Ended = ended; ended != 0 {
				change = activity.MatchChanged{MatchID: "7", Ended: ended}
			}
			testkit.Must(t, p.PushActivities(w.Ctx(), change))
			w.Expect("without the unreached", map[string]string{"neutral": want["neutral"], "visitor": want["visitor"]}, ended != 0)
			got := w.Queues.Messages(tables.ActivityQueue.Name)
			if len(got) != 1 || got[0].Visible.Sub(got[0].Sent) != activity.RetryDelay {
				t.Fatalf("%+v is sent, want one message after %v", got, activity.RetryDelay)
			}
			retry := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]
			if retry.Try != 1 || !slices.Equal(retry.Tokens, []string{crickettest.Token("local")}) || retry.Ended != ended || retry.Slot != 0 {
				t.Errorf("the message is %+v", retry)
			}
			before := pushes(w, "visitor")
			w.Phones.Answer(crickettest.Token("local"), append(slices.Repeat([]apns.Answer{func() apns.Answer {
				a := apns.Refuse(apns2.ReasonServiceUnavailable)
				a.Times = 1
				return a
			}()}, 20), apns.Answer{})...)
			if n := testkit.Drain(w.World, tables.ActivityQueue, time.Minute, p.PushActivities); n != 3 {
				t.Errorf("%d messages were needed, want 3", n)
			}
			w.Expect("when it can be reached", want, ended != 0)
			if pushes(w, "visitor") != before {
				t.Error("the others are pushed to again")
			}

			// After maxTries it is left alone.
			w.Phones.Answer(crickettest.Token("visitor"), apns.Refuse(apns2.ReasonServiceUnavailable))
			w.Subscribe("7", "visitor", "12")
			testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("visitor")}, Try: activity.MaxTries}))
			if left := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); len(left) > 0 {
				t.Errorf("%+v is sent after the last try", left)
			}
		})
	}
}

func TestPushEnd(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	end := activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}
	w.To(crickettest.At(40))
	for n := range 2 {
		calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), end)) })
		w.Expect("after the end", want, true)
		if left := w.Subscribed(); left != nil || calls["DeleteItem"] > 0 || calls["BatchWriteItem"] != 1-n {
			t.Errorf("run %d leaves %q, with the calls %v", n, left, calls)
		}
	}
	d, _ := w.Phones.Device(crickettest.Token("neutral"))
	if want := crickettest.At(40).Add(activity.DismissAfter); !d.Dismissal.Equal(want) || d.Pushes != 2 {
		t.Errorf("it is dismissed at %v after %d pushes, want %v after 2", d.Dismissal, d.Pushes, want)
	}
}

func TestPushSkipsTheExpired(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	s := w.Subscribe("7", "expired", "")
	s.ExpiresAt = w.Clock.Now().Unix()
	testkit.Put(w.World, tables.Subscriptions, s)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	if pushes(w, "expired") != 0 || pushes(w, "neutral") != 1 {
		t.Error("an expired subscription was pushed to, or another was not")
	}
}

func TestPushToSomeTokens(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("local"), crickettest.Token("neutral"), crickettest.Token("nobody")}}))
	w.Expect("after a message to some", map[string]string{"local": want["local"], "neutral": want["neutral"]}, false)
	if pushes(w, "visitor") != 0 {
		t.Error("another was pushed to")
	}
}

func TestPushManyPages(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	const n = 30
	for i := range n {
		testkit.Put(w.World, tables.Subscriptions, map[string]any{
			"matchId": "7", "pushToken": crickettest.Token(fmt.Sprint(i)), "userId": "u", "updatedAt": 1,
			"expiresAt": w.Clock.Now().Add(time.Hour).Unix(), "padding": strings.Repeat("x", 100_000), // ten a page
		})
	}
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	calls := w.Count(func() { testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities) })
	if calls["Query"] < 3 {
		t.Errorf("%d pages were read, want 3 or more", calls["Query"])
	}
	for i := range n {
		if got := pushes(w, fmt.Sprint(i)); got != 1 {
			t.Errorf("phone %d got %d pushes", i, got)
		}
	}
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(9).Unix()}))
	if left := w.Subscribed(); left != nil {
		t.Errorf("%d are left after the end", len(left))
	}
}

func TestPushRefused(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	w.Phones.Answer("", apns.Refuse(apns2.ReasonInvalidProviderToken))
	err := p.PushActivities(w.Ctx(), testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0])
	if _, ok := errors.AsType[*push.Refused](err); !ok {
		t.Errorf("refused credentials give %v", err)
	}
	if len(w.Subscribed()) != 3 {
		t.Error("subscriptions were removed")
	}
	if err := p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "8"}); problem.Of(err) != problem.Invalid {
		t.Errorf("a match that is not there gives %v, want an Invalid fault", err)
	}
}

// An activity that was registered while its match ended is ended, too.
func TestLateActivityIsEnded(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	w.To(crickettest.At(40))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.EndingAt = crickettest.At(40).Unix()
	testkit.Put(w.World, tables.Fixtures, f)
	w.Subscribe("7", "late", "11")
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("late")}}))
	if shown, ended := w.Shows("late"); !ended {
		t.Errorf("it stays on the lock screen: %.60s", shown)
	}
}

// A change that is heard of after the end of its match ends the activities of
// those, too, whom it did not concern.
func TestLateChangeEndsAll(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	w.Ends("7", 40)
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Slot: match.SlotOf(crickettest.At(1)), Changed: []string{"11"}}))
	w.Expect("after the late change", want, true)
}

// An end outlasts an hour without Apple.
func TestEndIsTriedForHours(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	w.To(crickettest.At(40))
	w.Phones.Answer(crickettest.Token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(40).Unix()}))
	testkit.Drain(w.World, tables.ActivityQueue, time.Hour, p.PushActivities)
	w.Phones.Answer(crickettest.Token("local"))
	testkit.Drain(w.World, tables.ActivityQueue, 4*time.Hour, p.PushActivities)
	if _, ended := w.Shows("local"); !ended {
		t.Error("it was never ended")
	}
}

// A message without a match is for the dead-letter queue.
func TestMessageWithoutAMatch(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	for _, id := range []string{"", "x", "7\x00", "12345678901234567890"} {
		err := w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(w.Ctx(), activity.MatchChanged{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("pushing to match %q: %v", id, err)
		}
		err = testkit.Open(w.World, live.FinishMatchFunction, live.OpenFinisher).FinishMatch(w.Ctx(), live.MatchLeft{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("finishing match %q: %v", id, err)
		}
	}
}

// crowd stores n activities of fans of neither team, by name.
func crowd(w *crickettest.World, matchID string, n int) (names []string) {
	w.T.Helper()
	all := make([]activity.Subscription, n)
	for i := range all {
		names = append(names, fmt.Sprint("fan ", i))
		all[i] = activity.Subscription{MatchID: matchID, PushToken: crickettest.Token(names[i]), UserID: names[i], UpdatedAt: 1, ExpiresAt: w.Clock.Now().Add(24 * time.Hour).Unix()}
	}
	testkit.Put(w.World, tables.Subscriptions, all...)
	return names
}

func TestCrowdIsPushedInParts(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	const n = 5000
	names := crowd(w, "7", n)
	w.Phones.Answer(crickettest.Token(names[0]), apns.Refuse(apns2.ReasonUnregistered))
	again := w.Subscribe("7", names[1], "")
	dead := apns.Refuse(apns2.ReasonUnregistered)
	dead.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.Phones.Answer(crickettest.Token(names[1]), dead)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	*p.Patience() = time.Minute // the race detector on a busy machine takes longer than five seconds for a page

	var whole, parts int
	handled := testkit.Drain(w.World, tables.ActivityQueue, time.Second, func(ctx context.Context, m activity.MatchChanged) error {
		if m.IDRange == (activity.IDRange{}) {
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
		if got := pushes(w, name); got != 1 {
			t.Fatalf("phone %d got %d pushes", i, got)
		}
	}
	w.Expect("in the crowd", map[string]string{"local": want["local"], "visitor": want["visitor"], names[n-1]: want["neutral"]}, false)
	left := w.Subscribed()
	if len(left) != n+2 || slices.Contains(left, names[0]) || !slices.Contains(left, names[1]) {
		t.Errorf("%d are left", len(left))
	}

	// The end is cut up, too, and leaves nobody.
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(9).Unix()}))
	w.Phones.Answer(crickettest.Token(names[1]))
	testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities)
	if left := w.Subscribed(); left != nil {
		t.Errorf("after the end %d are left", len(left))
	}
}

// A message that is delivered twice sends its parts twice; a superseded part does
// nothing.
func TestPartsAreSuperseded(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	old := activity.MatchChanged{MatchID: "7", Slot: match.SlotOf(crickettest.At(0)), Changed: []string{match.Neutral}, IDRange: activity.IDRange{From: "3", Until: "7"}}
	calls := w.Count(func() { testkit.Must(t, p.PushActivities(w.Ctx(), old)) })
	if want := map[string]int{"GetItem": 2}; !maps.Equal(calls, want) {
		t.Errorf("a superseded part makes the calls %v, want %v", calls, want)
	}
	for _, m := range []activity.MatchChanged{
		{MatchID: "7", IDRange: activity.IDRange{From: "7", Until: "3"}}, {MatchID: "7", IDRange: activity.IDRange{From: "7", Until: "7"}},
		{MatchID: "7", Channels: activity.CloseChannels, Ended: 1},
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
	crowd(w, "7", 3*activity.PerPage)
	newer := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", match.Neutral))
	newer.Slot++
	var once sync.Once
	w.Phones.Observe = func(apns.Push) { once.Do(func() { testkit.Put(w.World, tables.Displays, newer) }) }
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Slot: newer.Slot - 1, Changed: []string{match.Neutral}}))
	if got := len(w.Phones.Tokens()); got == 0 || got > activity.PerPage {
		t.Errorf("%d phones got a superseded state, want one page at most", got)
	}
}

// A match that ends without ever having been shown ends its activities with its
// score, and without a score it forgets them.
func TestEndWithoutADisplay(t *testing.T) {
	t.Parallel()
	w, f, _ := watched(t)
	for _, view := range f.Perspectives() {
		testkit.Must(t, w.Drop(tables.Displays, match.DisplayKey("7", view)))
	}
	w.Scripted("8")
	w.Subscribe("8", "scoreless", "11")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
	for _, id := range []string{"7", "8"} {
		testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: id, Ended: crickettest.At(9).Unix()}))
	}
	state := testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, "7")
	testkit.Must(t, state.Decode())
	want := map[string]string{}
	for name, view := range map[string]string{"local": "11", "visitor": "12", "neutral": match.Neutral} {
		text, err := json.Marshal(state.State.For(view))
		testkit.Must(t, err)
		want[name] = string(text)
	}
	w.Expect("without a display", want, true)
	if left := w.Subscribed(); left != nil || pushes(w, "scoreless") != 0 {
		t.Errorf("%q are left, and the scoreless got %d pushes", left, pushes(w, "scoreless"))
	}
	if got := w.Logs.Complaints(); len(got) != 1 || !strings.Contains(got[0], "nothing to show") {
		t.Errorf("logged: %q", got)
	}
}

// queued are the tokens of the messages that wait, in order, which must be in
// batches.
func queued(w *crickettest.World) (all []string) {
	w.T.Helper()
	for _, m := range testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue) {
		if len(m.Tokens) > activity.RetryBatch {
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
		for _, ended := range []int64{0, crickettest.At(9).Unix()} {
			t.Run(fmt.Sprint(name, ", ended ", ended != 0), func(t *testing.T) {
				t.Parallel()
				w, _, want := watched(t)
				names := crowd(w, "7", activity.PerMessage-3)
				silent(w)
				w.Phones.Answer("", answer)
				tried := map[string]bool{}
				var mu sync.Mutex
				w.Phones.Observe = func(p apns.Push) { mu.Lock(); defer mu.Unlock(); tried[p.Token] = true }
				p := w.Pusher(w.Env(activity.PushActivitiesFunction))
				*p.Patience() = 500 * time.Millisecond
				testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: ended}))
				if len(tried) > activity.PerPage {
					t.Errorf("%d phones were tried", len(tried))
				}
				all := []string{crickettest.Token("local"), crickettest.Token("visitor"), crickettest.Token("neutral")}
				for _, name := range names {
					all = append(all, crickettest.Token(name))
				}
				slices.Sort(all)
				if got := queued(w); !slices.Equal(got, all) {
					t.Errorf("%d of %d activities are tried again", len(got), len(all))
				}
				if left := w.Subscribed(); len(left) != activity.PerMessage {
					t.Errorf("%d subscriptions are left", len(left))
				}
				w.Phones.Answer("")
				*p.Patience() = time.Minute
				testkit.Drain(w.World, tables.ActivityQueue, time.Minute, p.PushActivities)
				want[names[0]], want[names[len(names)-1]] = want["neutral"], want["neutral"]
				w.Expect("when Apple is back", want, ended != 0)
			})
		}
	}
}

// A run that is cut short has had those tried again whom its pages before did
// not reach.
func TestUnreachedOfAPageOutlastTheRun(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	names := crowd(w, "7", 2*activity.PerPage)
	silent(w)
	first := slices.MinFunc(names, func(a, b string) int { return strings.Compare(crickettest.Token(a), crickettest.Token(b)) })
	w.Phones.Answer(crickettest.Token(first), apns.Refuse(apns2.ReasonServiceUnavailable))
	ctx, cancel := context.WithCancel(w.Ctx())
	defer cancel()
	reached := map[string]bool{}
	var mu sync.Mutex
	w.Phones.Observe = func(p apns.Push) {
		mu.Lock()
		defer mu.Unlock()
		if reached[p.Token] = true; len(reached) > activity.PerPage {
			cancel()
		}
	}
	if err := w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(ctx, activity.MatchChanged{MatchID: "7"}); err == nil {
		t.Error("the run was not cut short")
	}
	if got := queued(w); !slices.Equal(got, []string{crickettest.Token(first)}) {
		t.Errorf("%d activities are tried again, want that of the first page", len(got))
	}
}

// The unreached of a part are tried again by their tokens.
func TestUnreachedOfAPart(t *testing.T) {
	t.Parallel()
	w, _, want := watched(t)
	silent(w)
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.Phones.Answer(crickettest.Token("local"), busy)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	testkit.Must(t, p.PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: crickettest.At(9).Unix(), IDRange: activity.IDRange{From: "0", Until: "f~"}}))
	testkit.Drain(w.World, tables.ActivityQueue, time.Minute, p.PushActivities)
	w.Expect("of the part", want, true)
}

// What no other push makes up for soon, Apple keeps for a token; for a channel it
// may keep nothing.
func TestKeptByApple(t *testing.T) {
	t.Parallel()
	w, f, _ := watched(t)
	onChannel(w, w.Opened("7", match.Neutral), "listener")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction))
	balls := []crickettest.Ball{{ID: 1, Runs: 1}, {ID: 2, Runs: 6}}
	var mu sync.Mutex
	for _, c := range []struct {
		status string
		ended  bool
		want   time.Duration // from the time of the push
	}{
		{"1st Innings", false, 0}, {"Innings Break", false, activity.KeptPause}, {"Int.", false, activity.KeptPause}, {"Stump Day 1", false, activity.KeptPause}, {"Aban.", false, activity.KeptPause},
		{"Aban.", true, activity.KeptEnd},
	} {
		w.To(w.Clock.Now().Add(match.SlotLength))
		w.SetPayload(crickettest.Payload(f, c.status, balls...))
		w.TickAt(w.Ticker(), int(w.Clock.Now().Sub(crickettest.KickOff)/match.SlotLength)+1)
		silent(w)
		m := activity.MatchChanged{MatchID: "7"}
		now := w.Clock.Now()
		if c.ended {
			m.Ended = now.Unix()
		}
		want := "0"
		if c.want != 0 {
			want = fmt.Sprint(now.Add(c.want).Unix())
		}
		before, _ := w.Phones.Device(crickettest.Token("listener"))
		n := 0
		w.Phones.Observe = func(push apns.Push) {
			mu.Lock()
			defer mu.Unlock()
			if n++; !push.Broadcast && push.Expires != want || push.Status != 200 {
				t.Errorf("in %s, ended %v, Apple keeps it until %s, want %s: %+v", c.status, c.ended, push.Expires, want, push)
			}
		}
		testkit.Must(t, p.PushActivities(w.Ctx(), m))
		if d, _ := w.Phones.Device(crickettest.Token("listener")); d.Pushes != before.Pushes+1 || n != 4 {
			t.Errorf("in %s, ended %v, there were %d pushes, and the listener got %d", c.status, c.ended, n, d.Pushes-before.Pushes)
		}
	}
}

// The end is newer than what was shown in the same second.
func TestEndIsTheNewest(t *testing.T) {
	t.Parallel()
	w, _, _ := watched(t)
	shown := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", match.Neutral))
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction)).PushActivities(w.Ctx(), activity.MatchChanged{MatchID: "7", Ended: shown.At}))
	if d, _ := w.Phones.Device(crickettest.Token("neutral")); d.Timestamp.Unix() != shown.At+1 {
		t.Errorf("the end is of %d, what was shown before of %d", d.Timestamp.Unix(), shown.At)
	}
}
