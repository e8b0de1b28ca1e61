package activity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
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
	"matchday/pkg/spec"
)

// worldWithActivities returns a world with match 7 at its second ball, an activity for
// each team and a neutral one, and the display of each by the name of the activity.
func worldWithActivities(t *testing.T) (w *crickettest.World, f match.Fixture, want map[string]string) {
	w = crickettest.New(t).WithPhones()

	f = w.AddFixture("7")
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

// pushCount returns the number of pushes that a phone got.
func pushCount(w *crickettest.World, name string) int {
	d, _ := w.Phones.Device(crickettest.Token(name))
	return d.Pushes
}

func TestPushSendsEachPerspectiveItsDisplay(t *testing.T) {
	t.Parallel()
	w, f, want := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)
	w.ExpectPhones("after the push", want, false)

	if want["local"] == want["visitor"] || want["local"] == want["neutral"] {
		t.Errorf("the displays of the perspectives are equal: %q", want)
	}

	d, _ := w.Phones.Device(crickettest.Token("local"))
	if !d.Timestamp.Equal(crickettest.At(1).Truncate(time.Second)) || !d.Stale.Equal(d.Timestamp.Add(activity.StaleAfter)) {
		t.Errorf("the state has time %v and stale date %v, want %v and %v", d.Timestamp, d.Stale, crickettest.At(1).Truncate(time.Second),
			d.Timestamp.Add(activity.StaleAfter))
	}

	w.SetPayload(crickettest.Payload(f, "Int.", crickettest.Ball{ID: 1, Runs: 1}, crickettest.Ball{ID: 2, Runs: 6}))
	w.TickAt(w.Ticker(), 2)
	w.DrainPushes(time.Second, p)

	if d, _ := w.Phones.Device(crickettest.Token("local")); !d.Stale.IsZero() {
		t.Errorf("an interrupted match has the stale date %v, want none", d.Stale)
	}
}

// TestActivityOfAnotherEnvironmentIsNotPushed: APNs refuses its token. It is removed when the match is over.
func TestActivityOfAnotherEnvironmentIsNotPushed(t *testing.T) {
	t.Parallel()

	for environment, want := range map[string]map[string]int{
		"production": {"local": 1, "production": 1, "changed": 1},
		"sandbox":    {"local": 1, "sandbox": 1, "changed": 1},
		"":           {"local": 1, "production": 1, "sandbox": 1, "changed": 1},
	} {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			w, _, _ := worldWithActivities(t) // whose activities were stored without an environment
			testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })

			for _, in := range []struct{ name, environment string }{
				{"production", "production"}, {"sandbox", "sandbox"}, {"changed", "sandbox"}, {"changed", "production"}, {"changed", ""},
			} {
				body := map[string]string{"pushToken": crickettest.Token(in.name), "environment": in.environment}
				if in.environment == "" {
					delete(body, "environment")
				}

				text, err := json.Marshal(body)
				testkit.Must(t, err)

				if status, answer := startOn(w, in.name, string(text)); status != http.StatusCreated {
					t.Fatalf("%s: %d %s", in.name, status, answer)
				}
			}

			p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
			*p.Environment() = environment
			names := []string{"local", "production", "sandbox", "changed"}

			check := func(when string, times int) {
				t.Helper()

				got, all := map[string]int{}, map[string]int{}

				for _, name := range names {
					if n := pushCount(w, name); n > 0 {
						got[name] = n
					}

					if n := want[name] * times; n > 0 {
						all[name] = n
					}
				}

				if diff := cmp.Diff(all, got); diff != "" {
					t.Errorf("%s, pushes (-want +got):\n%s", when, diff)
				}
			}

			testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
			check("after an update", 1)

			testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(9).Unix())))
			check("after the end", 2)

			for _, s := range testkit.Rows[activity.Subscription](w.World, tables.Subscriptions) {
				if s.MatchID == "7" && s.PushToken != "" {
					t.Errorf("the activity of %s is left after the end", s.UserID)
				}
			}
		})
	}
}

// delaysOf returns the delays of pushes that were emitted, in ms.
func delaysOf(w *crickettest.World) (all []float64) {
	for _, line := range w.Logs.Lines() {
		values, _ := line.Attrs[tables.PushDelay.Name].([]float64)
		all = append(all, values...)
	}

	return all
}

// TestDelayOfPushes: the delay is from the due time of the slot that found the display to
// Apple's acceptance, also of a retry and of a broadcast. An end has no slot.
func TestDelayOfPushes(t *testing.T) {
	t.Parallel()

	w, _, _ := worldWithActivities(t)
	for n := range 37 {
		w.Subscribe("7", fmt.Sprint("fan ", n), "")
	}

	w.OpenChannel("7", match.Neutral)

	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all attempts of one run
	w.Phones.Answer(crickettest.Token("local"), busy)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.MoveClock(crickettest.At(1).Add(1500 * time.Millisecond))
	w.DrainPushes(time.Minute, p)
	// A broadcast; 39 pushes, of which a value stands for 20; and a retry 5 s later. The
	// values are those of the histogram.
	if diff := cmp.Diff([]float64{1471.5, 1471.5, 1471.5, 6399.5}, delaysOf(w)); diff != "" {
		t.Errorf("the delays differ (-want +got):\n%s", diff)
	}

	testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(9).Unix())))

	if got := len(delaysOf(w)); got != 4 {
		t.Errorf("after the end %d delays were emitted, want still 4", got)
	}
}

// TestPriorityOfUpdates: only a key event counts against the budget of an activity, unless
// the phone allows frequent updates.
func TestPriorityOfUpdates(t *testing.T) {
	t.Parallel()

	ball := func(id, runs int) crickettest.Ball { return crickettest.Ball{ID: id, Runs: runs} }
	for name, c := range map[string]struct {
		status         string
		balls          []crickettest.Ball
		ended          bool
		plain, channel string
	}{
		"a ball":           {"1st Innings", []crickettest.Ball{ball(1, 1), ball(2, 6), ball(3, 4)}, false, "5", "5"},
		"a wicket":         {"1st Innings", []crickettest.Ball{ball(1, 1), ball(2, 6), {ID: 3, Out: true}}, false, "10", "10"},
		"a ball after it":  {"1st Innings", []crickettest.Ball{ball(1, 1), {ID: 2, Out: true}, ball(3, 4)}, false, "5", "5"},
		"an interruption":  {"Int.", []crickettest.Ball{ball(1, 1), ball(2, 6)}, false, "10", "10"},
		"the innings' end": {"Innings Break", []crickettest.Ball{ball(1, 1), ball(2, 6)}, false, "10", "10"},
		"a result":         {"Aban.", []crickettest.Ball{ball(1, 1), ball(2, 6)}, false, "10", "10"},
		"the end":          {"1st Innings", []crickettest.Ball{ball(1, 1), ball(2, 6), ball(3, 4)}, true, "10", "10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, f, _ := worldWithActivities(t)
			frequent := w.Subscribe("7", "frequent", "")
			frequent.Frequent = true
			testkit.PutRows(w.World, tables.Subscriptions, frequent)
			channel := w.OpenChannel("7", match.Neutral)
			w.SetPayload(crickettest.Payload(f, c.status, c.balls...))
			w.TickAt(w.Ticker(), 2)

			var mu sync.Mutex

			got := map[string]string{}
			w.Phones.Observe = func(p apns.Push) {
				mu.Lock()
				defer mu.Unlock()

				got[p.Token] = p.Priority
			}

			m := activity.MatchChanged{MatchID: "7"}
			if c.ended {
				m = w.SetEnd("7", crickettest.At(9).Unix())
			}

			testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), m))

			want := map[string]string{channel: c.channel}
			for name, priority := range map[string]string{"local": c.plain, "visitor": c.plain, "neutral": c.plain, "frequent": "10"} {
				want[crickettest.Token(name)[:8]] = priority
			}

			mu.Lock()
			defer mu.Unlock()

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the priorities by token differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPushSkipsASupersededDisplay(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	old := activity.MatchChanged{MatchID: "7", Slot: match.SlotOf(crickettest.At(0)), Changed: []string{"11", "12", match.Neutral}}

	calls := w.CountCalls(func() { testkit.Must(t, p.PushActivities(w.NewContext(), old)) })
	if got := map[string]int{"GetItem": 1, "BatchGetItem": 1}; !maps.Equal(calls, got) || len(w.Phones.Tokens()) > 0 {
		t.Errorf("a superseded message pushes to %d phones, and its calls differ:\n%s", len(w.Phones.Tokens()), cmp.Diff(got, calls))
	}

	for range 2 { // delivered twice
		testkit.Must(t, p.PushActivities(w.NewContext(), testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]))
		w.ExpectPhones("after the later message", want, false)
	}
}

// TestPusherOpensWithItsKey: without the key for Apple it does not open, rather than to open and
// push nothing.
func TestPusherOpensWithItsKey(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	p := testkit.Open(w.World, activity.PushActivitiesFunction(), activity.OpenPusher)
	w.DrainPushes(time.Second, p)
	w.ExpectPhones("with the key", want, false)

	w.Settings[tables.APNSKey] = "{}"
	if _, err := activity.OpenPusher(w.NewContext(), w.Env(activity.PushActivitiesFunction())); err == nil {
		t.Error("it opens without a key")
	}
}

func TestUnregisteredTokensAreRemovedUnlessRegisteredAgain(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	w.Subscribe("7", "unregistered", "")
	w.Subscribe("7", "bad", "11")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	again := w.Subscribe("7", "registered again", "12")
	w.Phones.Answer(crickettest.Token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.Phones.Answer(crickettest.Token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	refusal := apns.Refuse(apns2.ReasonUnregistered)
	refusal.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.Phones.Answer(crickettest.Token("registered again"), refusal)
	same := w.Subscribe("7", "unregistered at registration", "12")
	refusal.Since = time.UnixMilli(same.UpdatedAt)
	w.Phones.Answer(same.PushToken, refusal)
	late := w.Subscribe("7", "registered meanwhile", "12")
	w.Phones.Answer(late.PushToken, apns.Refuse(apns2.ReasonUnregistered))

	var once sync.Once

	w.Phones.Observe = func(apns.Push) { // all activities have been read by the first push
		once.Do(func() {
			late.UpdatedAt++
			testkit.PutRows(w.World, tables.Subscriptions, late)
		})
	}
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)
	w.ExpectPhones("with unregistered tokens", want, false)

	if diff := cmp.Diff([]string{"local", "neutral", "registered again", "registered meanwhile", "visitor"}, w.Subscribers()); diff != "" {
		t.Errorf("the subscriptions differ:\n%s", diff)
	}

	// A subscription that was registered after it was read is not removed.
	testkit.Must(t, p.RemoveUnregistered(w.NewContext(), "7", crickettest.Token("local"), 5))

	if !slices.Contains(w.Subscribers(), "local") {
		t.Error("a subscription that was registered after it was read was removed")
	}
}

func TestUnreachedTokensAreRetried(t *testing.T) {
	t.Parallel()

	for _, ended := range []int64{0, crickettest.At(9).Unix()} {
		t.Run(fmt.Sprint("ended ", ended != 0), func(t *testing.T) {
			t.Parallel()
			w, _, want := worldWithActivities(t)
			w.Phones.Answer(crickettest.Token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
			p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
			change := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]
			testkit.Drain(w.World, tables.ActivityQueue, time.Second, func(context.Context, activity.MatchChanged) error { return nil })

			if change.Ended = ended; ended != 0 {
				change = w.SetEnd("7", ended)
			}

			testkit.Must(t, p.PushActivities(w.NewContext(), change))
			w.ExpectPhones("without the unreached", map[string]string{"neutral": want["neutral"], "visitor": want["visitor"]}, ended != 0)

			got := w.Queues.Messages(tables.PartQueue.Name)
			if len(got) != 1 || got[0].Visible.Sub(got[0].Sent) != activity.RetryDelay {
				t.Fatalf("the messages are %+v, want one with a delay of %v", got, activity.RetryDelay)
			}

			retry := testkit.Messages[activity.MatchChanged](w.World, tables.PartQueue)[0]
			if retry.Try != 1 || !slices.Equal(retry.Tokens, []string{crickettest.Token("local")}) || retry.Ended != ended || retry.Slot != 0 {
				t.Errorf("the retry is %+v, want try 1 for the token of local, ended %d, no slot", retry, ended)
			}

			before := pushCount(w, "visitor")
			w.Phones.Answer(crickettest.Token("local"), append(slices.Repeat([]apns.Answer{func() apns.Answer {
				a := apns.Refuse(apns2.ReasonServiceUnavailable)
				a.Times = 1

				return a
			}()}, 20), apns.Answer{})...)

			if n := w.DrainPushes(time.Minute, p); n != 3 {
				t.Errorf("%d messages were handled, want 3", n)
			}

			w.ExpectPhones("after the retries", want, ended != 0)

			if pushCount(w, "visitor") != before {
				t.Error("the retries pushed to a token that had been reached")
			}

			// After maxTries there is no further message of an update.
			w.SetEnd("7", 0)
			w.Phones.Answer(crickettest.Token("visitor"), apns.Refuse(apns2.ReasonServiceUnavailable))
			w.Subscribe("7", "visitor", "12")
			testkit.Must(t, p.PushActivities(w.NewContext(),
				activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("visitor")}, Try: activity.MaxTries}))

			if left := testkit.Messages[activity.MatchChanged](w.World, tables.PartQueue); len(left) > 0 {
				t.Errorf("the messages %+v are sent after the last try, want none", left)
			}

			if !slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool {
				return l.Text == "gave up: activities were not reached" && l.Attrs["match"] == "7" && l.Attrs["ended"] == false &&
					l.Attrs["tries"] == int64(activity.MaxTries)
			}) {
				t.Errorf("the log does not say that the push was given up: %v", w.Logs.Lines())
			}
		})
	}
}

// TestChangeWithoutActivitiesIsCounted: the alarm pushes-stopped compares the changes that were
// queued with the samples of PushesDelivered. A change that nobody follows has one, of 0; a part has
// none of push-activities.
func TestChangeWithoutActivitiesIsCounted(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()
	f := w.AddFixture("7")
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
	w.TickAt(w.Ticker(), 1)

	if got := w.Logs.SumMetric(tables.ChangesQueued); got != 1 {
		t.Errorf("the tick counts %v queued changes, want 1", got)
	}

	w.DrainPushes(time.Second, w.Pusher(w.Env(activity.PushActivitiesFunction())))

	if got := w.Logs.SumMetric(tables.PushesDelivered); got != 0 || !slices.Contains(w.Logs.EmittedMetrics(), tables.PushesDelivered) {
		t.Errorf("the pusher counts %v, of the metrics %v; want a sample of 0", got, w.Logs.EmittedMetrics())
	}
}

// TestPushesAreCounted: a run counts its pushes by their outcome, and the attempts after the
// first: one of local, and seven of busy.
func TestPushesAreCounted(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	once := apns.Refuse(apns2.ReasonServiceUnavailable)
	once.Times = 1
	w.Phones.Answer(crickettest.Token("local"), once)

	for _, name := range []string{"unregistered", "unregistered too"} {
		w.Subscribe("7", name, "")
		w.Phones.Answer(crickettest.Token(name), apns.Refuse(apns2.ReasonUnregistered))
	}

	w.Subscribe("7", "busy", "")
	w.Phones.Answer(crickettest.Token("busy"), apns.Refuse(apns2.ReasonServiceUnavailable))
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	got := map[string]float64{}
	for _, m := range []spec.Metric{tables.PushesDelivered, tables.PushesGone, tables.PushesRetried, tables.PushesUnreached} {
		got[m.Name] = w.Logs.SumMetric(m)
	}

	want := map[string]float64{"PushesDelivered": 3, "PushesGone": 2, "PushesRetried": 1 + 7, "PushesUnreached": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the counts differ (-want +got):\n%s", diff)
	}
}

func TestPushEndsActivities(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)

	end := w.SetEnd("7", crickettest.At(40).Unix())
	w.MoveClock(crickettest.At(40))

	for n := range 2 {
		calls := w.CountCalls(func() { testkit.Must(t, p.PushActivities(w.NewContext(), end)) })
		w.ExpectPhones("after the end", want, true)

		if left := w.Subscribers(); left != nil || calls["DeleteItem"] > 0 || calls["BatchWriteItem"] != 1-n {
			t.Errorf("run %d leaves the subscriptions %q and makes the calls %v; want none, and one BatchWriteItem in run 0", n, left, calls)
		}
	}

	d, _ := w.Phones.Device(crickettest.Token("neutral"))
	if want := crickettest.At(40).Add(activity.DismissAfter); !d.Dismissal.Equal(want) || d.Pushes != 2 {
		t.Errorf("dismissal date %v after %d pushes, want %v after 2", d.Dismissal, d.Pushes, want)
	}
}

func TestPushSkipsExpiredSubscriptions(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	s := w.Subscribe("7", "expired", "")
	s.ExpiresAt = w.Clock.Now().Unix()
	testkit.PutRows(w.World, tables.Subscriptions, s)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)

	if pushCount(w, "expired") != 0 || pushCount(w, "neutral") != 1 {
		t.Errorf("%d pushes to the expired subscription and %d to the valid one, want 0 and 1", pushCount(w, "expired"), pushCount(w, "neutral"))
	}
}

func TestPushReachesOnlyTheTokensOfTheMessage(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Must(t, p.PushActivities(w.NewContext(),
		activity.MatchChanged{
			MatchID: "7",
			Tokens:  []string{crickettest.Token("local"), crickettest.Token("neutral"), crickettest.Token("nobody")},
		}))
	w.ExpectPhones("after a message to two tokens", map[string]string{"local": want["local"], "neutral": want["neutral"]}, false)

	if pushCount(w, "visitor") != 0 {
		t.Error("a token outside the message got a push")
	}
}

// TestCostOfATokenIsIndependentOfTheOthers: a message to one token reads its row only.
func TestCostOfATokenIsIndependentOfTheOthers(t *testing.T) {
	t.Parallel()

	cost := func(others int) float64 {
		w, _, _ := worldWithActivities(t)
		addSubscriptions(w, "7", others)
		p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
		m := activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("local")}}

		return w.CountUnits(func() { testkit.Must(t, p.PushActivities(w.NewContext(), m)) }).Reads
	}
	if few, many := cost(1), cost(400); few != many {
		t.Errorf("it reads %v units beside one other and %v beside 400, want the same", few, many)
	}
}

// TestDisplayThatIsNoJSON: the error names the match and the perspective.
func TestDisplayThatIsNoJSON(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	row := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11"))
	row.Display = match.RawJSON(`{"status":`)
	testkit.PutRows(w.World, tables.Displays, row)

	err := w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(),
		activity.MatchChanged{MatchID: "7", Changed: []string{"11"}})
	if err == nil || !strings.HasPrefix(err.Error(), "display of match 7 for 11: ") {
		t.Errorf("got %v", err)
	}
}

func TestPushReadsAllPages(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)

	const n = 30
	for i := range n {
		testkit.PutRows(w.World, tables.Subscriptions, map[string]any{
			"matchId": "7", "pushToken": crickettest.Token(fmt.Sprint(i)), "userId": "u", "updatedAt": 1,
			"expiresAt": w.Clock.Now().Add(time.Hour).Unix(), "padding": strings.Repeat("x", 100_000), // 10 rows fill a page of 1 MB
		})
	}

	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))

	calls := w.CountCalls(func() { w.DrainPushes(time.Second, p) })
	if calls["Query"] < 3 {
		t.Errorf("%d queries, want 3 or more", calls["Query"])
	}

	for i := range n {
		if got := pushCount(w, fmt.Sprint(i)); got != 1 {
			t.Errorf("phone %d got %d pushes, want 1", i, got)
		}
	}

	testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(9).Unix())))

	if left := w.Subscribers(); left != nil {
		t.Errorf("%d subscriptions are left after the end, want 0", len(left))
	}
}

func TestRefusedCredentialsKeepSubscriptions(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.Phones.Answer("", apns.Refuse(apns2.ReasonInvalidProviderToken))

	err := p.PushActivities(w.NewContext(), testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0])
	if _, ok := errors.AsType[*push.Refused](err); !ok {
		t.Errorf("refused credentials: error %v, want *push.Refused", err)
	}

	if n := w.Logs.SumMetric(tables.AppleFailures); n != 1 {
		t.Errorf("%v failures of Apple are counted, want 1", n)
	}

	if len(w.Subscribers()) != 3 {
		t.Errorf("the subscriptions are %q, want 3", w.Subscribers())
	}

	if err := p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "8"}); problem.Of(err) != problem.Invalid {
		t.Errorf("a match that does not exist: error %v, want Invalid", err)
	}
}

// An activity that was registered while its match ended is ended.
func TestLateActivityIsEnded(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)
	w.MoveClock(crickettest.At(40))
	testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(40).Unix())))
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.EndingAt = crickettest.At(40).Unix()
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.Subscribe("7", "late", "11")
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7", Tokens: []string{crickettest.Token("late")}}))

	if state, ended := w.PhoneState("late"); !ended {
		t.Errorf("the activity is not ended and shows %.60s", state)
	}
}

// A change that is handled after the end of its match ends all activities, also those
// of other perspectives.
func TestLateChangeEndsAllActivities(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	w.DecideEnd("7", 40)
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(),
		activity.MatchChanged{MatchID: "7", Slot: match.SlotOf(crickettest.At(1)), Changed: []string{"11"}}))
	w.ExpectPhones("after the late change", want, true)
}

// An end is delivered after an hour in which Apple refused it.
func TestEndIsRetriedForHours(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	w.DrainPushes(time.Second, p)
	w.MoveClock(crickettest.At(40))
	w.Phones.Answer(crickettest.Token("local"), apns.Refuse(apns2.ReasonServiceUnavailable))
	testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(40).Unix())))
	w.DrainPushes(time.Hour, p)
	w.Phones.Answer(crickettest.Token("local"))
	w.DrainPushes(4*time.Hour, p)

	if _, ended := w.PhoneState("local"); !ended {
		t.Error("the activity is not ended")
	}
}

// An Invalid message goes to the dead-letter queue.
func TestMessageWithoutAMatchIsInvalid(t *testing.T) {
	t.Parallel()

	w, _, _ := worldWithActivities(t)
	for _, id := range []string{"", "x", "7\x00", "12345678901234567890"} {
		err := w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), activity.MatchChanged{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("push to match %q: error %v, want Invalid", id, err)
		}

		err = testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher).FinishMatch(w.NewContext(), live.MatchLeft{MatchID: id})
		if problem.Of(err) != problem.Invalid {
			t.Errorf("end of match %q: error %v, want Invalid", id, err)
		}
	}
}

// addSubscriptions stores n neutral activities, and returns their names. Each is so large
// that a message needs several pages of at most 1 MB.
func addSubscriptions(w *crickettest.World, matchID string, n int) (names []string) {
	w.T.Helper()

	type large struct {
		activity.Subscription
		Filler string
	}

	all := make([]large, n)
	for i := range all {
		names = append(names, fmt.Sprint("fan ", i))
		all[i] = large{
			activity.Subscription{
				MatchID:   matchID,
				PushToken: crickettest.Token(names[i]),
				UserID:    names[i],
				UpdatedAt: 1,
				ExpiresAt: w.Clock.Now().Add(24 * time.Hour).Unix(),
			},
			strings.Repeat("x", 400),
		}
	}

	testkit.PutRows(w.World, tables.Subscriptions, all...)

	return names
}

func TestManyActivitiesArePushedInParts(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)

	const n = 5000

	names := addSubscriptions(w, "7", n)
	w.Phones.Answer(crickettest.Token(names[0]), apns.Refuse(apns2.ReasonUnregistered))
	again := w.Subscribe("7", names[1], "")
	refusal := apns.Refuse(apns2.ReasonUnregistered)
	refusal.Since = time.UnixMilli(again.UpdatedAt - 1)
	w.Phones.Answer(crickettest.Token(names[1]), refusal)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))

	if n := testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities); n != 1 {
		t.Errorf("%d messages of push-activities were handled, want 1", n)
	}

	parts := w.Queues.Messages(tables.PartQueue.Name)
	for i, m := range testkit.Messages[activity.MatchChanged](w.World, tables.PartQueue) {
		if m.IDRange == (activity.IDRange{}) || m.Slot == 0 || len(m.Changed) != 3 || parts[i].Group != "7" {
			t.Errorf("a part is %+v of group %q, want a range, the slot and 3 perspectives, of group 7", m, parts[i].Group)
		}
	}

	if len(parts) < 2 || len(parts) > 4 { // 3,000 in parts of 1,800
		t.Errorf("%d parts were sent, want 2 to 4", len(parts))
	}

	w.DrainPushes(time.Second, p)

	for i, name := range names[2:] {
		if got := pushCount(w, name); got != 1 {
			t.Fatalf("phone %d got %d pushes, want 1", i, got)
		}
	}

	w.ExpectPhones("after all parts", map[string]string{"local": want["local"], "visitor": want["visitor"], names[n-1]: want["neutral"]},
		false)

	left := w.Subscribers()
	if len(left) != n+2 || slices.Contains(left, names[0]) || !slices.Contains(left, names[1]) {
		t.Errorf("%d subscriptions are left, want %d: all but %s", len(left), n+2, names[0])
	}

	// The end is divided into parts, too, and removes all subscriptions.
	testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd("7", crickettest.At(9).Unix())))
	w.Phones.Answer(crickettest.Token(names[1]))
	w.DrainPushes(time.Second, p)

	if left := w.Subscribers(); left != nil {
		t.Errorf("%d subscriptions are left after the end, want 0", len(left))
	}
}

// TestActivitiesThatEndMeanwhileNeedNoPart: if no activity is left when the rest of a message
// is divided, nothing is sent for it.
func TestActivitiesThatEndMeanwhileNeedNoPart(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	discardMessages(w)
	addSubscriptions(w, "7", activity.PerMessage)
	env := w.Env(activity.PushActivitiesFunction())
	next, queries := env.AWS.HTTPClient, 0
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			if queries++; queries == 3 { // after the channels and the activities
				return &http.Response{
					StatusCode: http.StatusOK,
					Header:     http.Header{},
					Body:       io.NopCloser(strings.NewReader(`{"Count":0,"ScannedCount":0,"Items":[]}`)),
				}, nil
			}
		}

		return next.Do(r)
	})
	p := w.Pusher(env)
	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	if sent := testkit.Messages[activity.MatchChanged](w.World, tables.PartQueue); queries != 3 || len(sent) != 0 {
		t.Errorf("after %d queries the messages are %+v, want none after 3", queries, sent)
	}
}

// TestPartReachesNoChannel: the message that was divided has been pushed to the channels.
func TestPartReachesNoChannel(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)
	listenTo(w, w.OpenChannel("7", match.Neutral), "listener")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	part := activity.MatchChanged{MatchID: "7", IDRange: activity.IDRange{From: "0", Until: "f~"}}
	testkit.Must(t, p.PushActivities(w.NewContext(), part))

	want["listener"] = ""
	w.ExpectPhones("after a part", want, false)

	part.IDRange = activity.IDRange{}
	testkit.Must(t, p.PushActivities(w.NewContext(), part))

	want["listener"] = want["neutral"]
	w.ExpectPhones("after the whole", want, false)
}

// A message that is delivered twice sends its parts twice. A superseded part pushes
// nothing.
func TestSupersededPartIsSkipped(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	old := activity.MatchChanged{
		MatchID: "7",
		Slot:    match.SlotOf(crickettest.At(0)),
		Changed: []string{match.Neutral},
		IDRange: activity.IDRange{From: "3", Until: "7"},
	}

	calls := w.CountCalls(func() { testkit.Must(t, p.PushActivities(w.NewContext(), old)) })
	if want := map[string]int{"GetItem": 1, "BatchGetItem": 1}; !maps.Equal(calls, want) {
		t.Errorf("the calls of a superseded part differ:\n%s", cmp.Diff(want, calls))
	}

	for _, m := range []activity.MatchChanged{
		{MatchID: "7", IDRange: activity.IDRange{From: "7", Until: "3"}}, {MatchID: "7", IDRange: activity.IDRange{From: "7", Until: "7"}},
	} {
		if err := p.PushActivities(w.NewContext(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%+v: error %v, want Invalid", m, err)
		}
	}
}

// A display that is superseded while it is pushed is not pushed to the next pages: the
// later message pushes the new one.
func TestSupersededRunStopsAtTheNextPage(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	addSubscriptions(w, "7", 3*activity.PerPage)
	newer := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", match.Neutral))
	newer.Slot++

	var once sync.Once

	w.Phones.Observe = func(apns.Push) { once.Do(func() { testkit.PutRows(w.World, tables.Displays, newer) }) }
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Must(t, p.PushActivities(w.NewContext(),
		activity.MatchChanged{MatchID: "7", Slot: newer.Slot - 1, Changed: []string{match.Neutral}}))

	if got := len(w.Phones.Tokens()); got == 0 || got > activity.PerPage {
		t.Errorf("%d phones got the superseded display, want 1 to %d", got, activity.PerPage)
	}
}

// A match without a display ends its activities with a display made from its score.
// Without a score their subscriptions are removed without a push.
func TestEndWithoutADisplayUsesTheScore(t *testing.T) {
	t.Parallel()

	w, f, _ := worldWithActivities(t)
	for _, view := range f.Perspectives() {
		testkit.Must(t, w.DeleteRow(tables.Displays, match.DisplayKey("7", view)))
	}

	w.AddFixture("8")
	w.Subscribe("8", "scoreless", "11")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })

	for _, id := range []string{"7", "8"} {
		testkit.Must(t, p.PushActivities(w.NewContext(), w.SetEnd(id, crickettest.At(9).Unix())))
	}

	state := testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, "7")
	testkit.Must(t, state.Decode())

	want := map[string]string{}

	for name, view := range map[string]string{"local": "11", "visitor": "12", "neutral": match.Neutral} {
		text, err := json.Marshal(state.State.For(view))
		testkit.Must(t, err)

		want[name] = string(text)
	}

	w.ExpectPhones("without a display", want, true)

	if left := w.Subscribers(); left != nil || pushCount(w, "scoreless") != 0 {
		t.Errorf("the subscriptions %q are left, and the one without a score got %d pushes; want none", left, pushCount(w, "scoreless"))
	}

	if got := w.Logs.TakeWarnings(); len(got) != 1 || !strings.Contains(got[0], "has no display") {
		t.Errorf("the log has the complaints %q, want one of a match without a display", got)
	}
}

// queuedTokens returns the tokens of the waiting messages, in order. It fails the test
// if a message has more than RetryBatch.
func queuedTokens(w *crickettest.World) (all []string) {
	w.T.Helper()

	for _, m := range testkit.Messages[activity.MatchChanged](w.World, tables.PartQueue) {
		if len(m.Tokens) > activity.RetryBatch {
			w.T.Errorf("a message has %d tokens, want at most %d", len(m.Tokens), activity.RetryBatch)
		}

		all = append(all, m.Tokens...)
	}

	slices.Sort(all)

	return all
}

// If a page reaches no phone, the next pages are not tried, and all activities are
// retried later.
func TestPushStopsAfterOnePageWithoutApple(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]apns.Answer{"503": apns.Refuse(apns2.ReasonServiceUnavailable), "no answer": {Slow: 24 * time.Hour}} {
		for _, ended := range []int64{0, crickettest.At(9).Unix()} {
			t.Run(fmt.Sprint(name, ", ended ", ended != 0), func(t *testing.T) {
				t.Parallel()
				w, _, want := worldWithActivities(t)
				names := addSubscriptions(w, "7", activity.PerMessage-3)
				discardMessages(w)
				w.Phones.Answer("", answer)

				tried := map[string]bool{}

				var mu sync.Mutex

				w.Phones.Observe = func(p apns.Push) { mu.Lock(); defer mu.Unlock(); tried[p.Token] = true }
				p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
				*p.PageTimeout() = 500 * time.Millisecond

				m := activity.MatchChanged{MatchID: "7"}
				if ended != 0 {
					m = w.SetEnd("7", ended)
				}

				testkit.Must(t, p.PushActivities(w.NewContext(), m))
				mu.Lock() // the service may still be answering what was given up
				if len(tried) > activity.PerPage {
					t.Errorf("%d phones were tried, want at most %d", len(tried), activity.PerPage)
				}
				mu.Unlock()

				all := []string{crickettest.Token("local"), crickettest.Token("visitor"), crickettest.Token("neutral")}
				for _, name := range names {
					all = append(all, crickettest.Token(name))
				}

				slices.Sort(all)

				if got := queuedTokens(w); !slices.Equal(got, all) {
					t.Errorf("%d activities are retried, want %d", len(got), len(all))
				}

				if left := w.Subscribers(); len(left) != activity.PerMessage {
					t.Errorf("%d subscriptions are left, want %d", len(left), activity.PerMessage)
				}

				w.Phones.Answer("")

				*p.PageTimeout() = time.Minute
				w.DrainPushes(time.Minute, p)

				want[names[0]], want[names[len(names)-1]] = want["neutral"], want["neutral"]
				w.ExpectPhones("when Apple answers again", want, ended != 0)
			})
		}
	}
}

// A run that is cancelled has already sent the retries of its earlier pages.
func TestCancelledRunKeepsRetriesOfEarlierPages(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	names := addSubscriptions(w, "7", 2*activity.PerPage)
	discardMessages(w)

	first := slices.MinFunc(names, func(a, b string) int { return strings.Compare(crickettest.Token(a), crickettest.Token(b)) })
	w.Phones.Answer(crickettest.Token(first), apns.Refuse(apns2.ReasonServiceUnavailable))

	ctx, cancel := context.WithCancel(w.NewContext())
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

	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	if err := p.PushActivities(ctx, activity.MatchChanged{MatchID: "7"}); err == nil {
		t.Error("no error from a cancelled run")
	}

	if got := queuedTokens(w); !slices.Equal(got, []string{crickettest.Token(first)}) {
		t.Errorf("%d activities are retried, want the one of the first page", len(got))
	}
}

// Tokens of a part that were not reached are retried by a message with their tokens.
func TestUnreachedOfAPartAreRetriedByToken(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	discardMessages(w)

	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.Phones.Answer(crickettest.Token("local"), busy)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))

	end := w.SetEnd("7", crickettest.At(9).Unix())
	end.IDRange = activity.IDRange{From: "0", Until: "f~"}
	testkit.Must(t, p.PushActivities(w.NewContext(), end))
	w.DrainPushes(time.Minute, p)
	w.ExpectPhones("after the retry of the part", want, true)
}

// A push to a token expires late if no other push replaces it soon. A broadcast is
// never stored.
func TestExpirationOfPushes(t *testing.T) {
	t.Parallel()
	w, f, _ := worldWithActivities(t)
	listenTo(w, w.OpenChannel("7", match.Neutral), "listener")
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	balls := []crickettest.Ball{{ID: 1, Runs: 1}, {ID: 2, Runs: 6}}

	var mu sync.Mutex

	for _, c := range []struct {
		status string
		ended  bool
		want   time.Duration // from the time of the push
	}{
		{"1st Innings", false, 0},
		{"Innings Break", false, activity.PauseExpiration},
		{"Int.", false, activity.PauseExpiration},
		{"Stump Day 1", false, activity.PauseExpiration},
		{"Aban.", false, activity.PauseExpiration},
		{"Aban.", true, activity.EndExpiration},
	} {
		w.MoveClock(w.Clock.Now().Add(match.SlotLength))
		w.SetPayload(crickettest.Payload(f, c.status, balls...))
		w.TickAt(w.Ticker(), int(w.Clock.Now().Sub(crickettest.KickOff)/match.SlotLength)+1)
		discardMessages(w)

		m := activity.MatchChanged{MatchID: "7"}

		now := w.Clock.Now()
		if c.ended {
			m = w.SetEnd("7", now.Unix())
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
				t.Errorf("status %s, ended %v: expiration %s, want %s, with status 200: %+v", c.status, c.ended, push.Expires, want, push)
			}
		}
		testkit.Must(t, p.PushActivities(w.NewContext(), m))

		if d, _ := w.Phones.Device(crickettest.Token("listener")); d.Pushes != before.Pushes+1 || n != 4 {
			t.Errorf("status %s, ended %v: %d pushes, %d of them to the listener; want 4 and 1", c.status, c.ended, n, d.Pushes-before.Pushes)
		}
	}
}

// The end has a later time than a display of the same second.
func TestEndIsNewerThanTheLastDisplay(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	shown := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", match.Neutral))
	testkit.Must(t, w.Pusher(w.Env(activity.PushActivitiesFunction())).PushActivities(w.NewContext(), w.SetEnd("7", shown.At)))

	if d, _ := w.Phones.Device(crickettest.Token("neutral")); d.Timestamp.Unix() != shown.At+1 {
		t.Errorf("the end has time %d, want %d", d.Timestamp.Unix(), shown.At+1)
	}
}
