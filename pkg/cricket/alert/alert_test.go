package alert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// openAlerter opens send-alerts with a sender that retries at once.
func openAlerter(w *crickettest.World, env app.Env) *alert.Alerter {
	w.T.Helper()
	return alert.NewAlerter(env, w.Sender(env), w.Google(env))
}

// addFollower stores a user who follows match 7 and supports the team, and the user's
// phone, whose token is derived from the name. The edits change both rows before.
func addFollower(w *crickettest.World, name, team string, edits ...func(*follower.FollowRow, *follower.DeviceRow)) {
	w.T.Helper()
	now := w.Clock.Now()
	f := follower.FollowRow{
		Follow:    follower.Follow{MatchID: "7", UserID: name},
		TeamID:    team,
		CreatedAt: now.UnixMilli(),
		ExpiresAt: now.Add(96 * time.Hour).Unix(),
	}

	d := follower.DeviceRow{
		UserID: name, DeviceToken: crickettest.Token(name), OSMajor: 18,
		Phone:     push.Phone{Platform: "ios", Environment: "production"},
		UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
	}
	for _, edit := range edits {
		edit(&f, &d)
	}

	testkit.PutRows(w.World, tables.Follows, f)
	testkit.PutRows(w.World, tables.Devices, d)
}

func setPreferences(w *crickettest.World, name string, p follower.Preferences) {
	w.T.Helper()
	testkit.PutRows(w.World, tables.Preferences, follower.PreferencesRow{UserID: name, Preferences: p, UpdatedAt: 1})
}

// wicketAlert is the alert of a wicket at the present time.
func wicketAlert(w *crickettest.World) alert.Alert {
	return alert.Alert{
		MatchID: "7", Key: "S1:W1", Kind: event.Wicket, Match: "Harbour v Valley",
		Title: "Wicket! Harbour 7/1 (1.2)", Body: "A Batter b A Bowler 3 (5)", At: w.Clock.Now().Unix(),
	}
}

// rainAlert is an alert that spoiler-free users get, too.
func rainAlert(w *crickettest.World) alert.Alert {
	m := wicketAlert(w)
	m.Key, m.Kind, m.Title, m.Body, m.Plain = "rain:1", event.Rain, "Rain: Harbour 7/1", "Harbour 7/1 (1.2)", "Play has stopped"

	return m
}

// alertsOf returns the title and body of each notification that a phone shows.
func alertsOf(w *crickettest.World, name string) (all []string) {
	d, _ := w.Phones.Device(crickettest.Token(name))
	for _, a := range d.Alerts {
		all = append(all, a.Title+"|"+a.Body)
	}

	return all
}

// ringCount returns how often a phone rang.
func ringCount(w *crickettest.World, name string) (n int) {
	d, _ := w.Phones.Device(crickettest.Token(name))
	for _, a := range d.Alerts {
		n += a.Times
	}

	return n
}

// worldWithFollowedMatch returns a world with match 7 and phones.
func worldWithFollowedMatch(t *testing.T) *crickettest.World {
	w := crickettest.New(t).WithPhones()
	w.AddFixture("7")

	return w
}

// preferOnly returns preferences that allow only alerts of these kinds.
func preferOnly(kinds ...event.Kind) follower.Preferences { return follower.Preferences{Alerts: kinds} }

func TestAlertsFollowPreferences(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t) // at 11:00 UTC
	quiet := func(from, to, zone string) follower.Preferences {
		p := follower.DefaultPreferences()
		p.QuietHours = &follower.QuietHours{From: from, To: to, TimeZone: zone}

		return p
	}
	keyOnly, spoilerFree := follower.DefaultPreferences(), follower.DefaultPreferences()
	keyOnly.KeyEventsOnly, spoilerFree.SpoilerFree = true, true

	const wicket, rain = "Wicket! Harbour 7/1 (1.2)|A Batter b A Bowler 3 (5)", "Rain: Harbour 7/1|Harbour 7/1 (1.2)"
	for name, c := range map[string]struct {
		prefers follower.Preferences
		want    []string
	}{
		"everything":                             {follower.DefaultPreferences(), []string{wicket, rain}},
		"nothing":                                {preferOnly(), nil},
		"wickets alone":                          {preferOnly(event.Wicket), []string{wicket}},
		"key events":                             {keyOnly, nil},
		"spoiler-free":                           {spoilerFree, []string{"Harbour v Valley|Play has stopped"}},
		"quiet over midnight, asleep":            {quiet("22:00", "07:00", "America/Los_Angeles"), nil},
		"quiet over midnight, awake":             {quiet("22:00", "07:00", "Asia/Kolkata"), []string{wicket, rain}},
		"quiet over midnight, before it":         {quiet("22:00", "07:00", "Pacific/Auckland"), nil},
		"quiet in the afternoon":                 {quiet("16:00", "17:00", "Asia/Kolkata"), nil},
		"quiet until it is sent, not when it is": {quiet("10:30", "11:06", "UTC"), []string{wicket, rain}},
	} {
		addFollower(w, name, "11")

		setPreferences(w, name, c.prefers)
		defer func() {
			if got := alertsOf(w, name); !slices.Equal(got, c.want) {
				t.Errorf("preferences %q: alerts %q, want %q", name, got, c.want)
			}
		}()
	}

	addFollower(w, "unstated", "")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m, n := wicketAlert(w), rainAlert(w)
	w.MoveClock(w.Clock.Now().Add(6 * time.Minute))
	testkit.Must(t, a.SendAlert(w.NewContext(), m))
	testkit.Must(t, a.SendAlert(w.NewContext(), n))
	n.Key, n.Plain = "rain:2", "" // no text without the score

	setPreferences(w, "everything", preferOnly())
	setPreferences(w, "unstated", preferOnly())
	testkit.Must(t, w.DeleteRow(tables.Follows, "7", "quiet over midnight, awake"))
	testkit.Must(t, w.DeleteRow(tables.Follows, "7", "quiet until it is sent, not when it is"))
	testkit.Must(t, a.SendAlert(w.NewContext(), n))

	if got := alertsOf(w, "unstated"); !slices.Equal(got, []string{wicket, rain}) {
		t.Errorf("without stored preferences: alerts %q, want %q", got, []string{wicket, rain})
	}

	if d, s := w.Logs.SumMetric(tables.AlertsDelivered), w.Logs.SumMetric(tables.AlertsSuppressed); d != 10 || s != 21 {
		t.Errorf("%v alerts delivered and %v suppressed, want 10 and 21", d, s)
	}
}

// TestDelayOfAlerts: the delay of an alert is from the due time of the slot that confirmed its
// event. A reminder has no slot.
func TestDelayOfAlerts(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	w.MoveClock(crickettest.At(4).Add(900 * time.Millisecond))
	m := wicketAlert(w)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))
	m.Key, m.Slot = "S1:W2", match.SlotOf(crickettest.At(4))
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	var got []float64

	for _, line := range w.Logs.Lines() {
		values, _ := line.Attrs[tables.PushDelay.Name].([]float64)
		got = append(got, values...)
	}

	if diff := cmp.Diff([]float64{927.5}, got); diff != "" {
		t.Errorf("the delays differ (-want +got):\n%s", diff)
	}
}

// TestCollapseIDHasAtMost64Bytes: Apple refuses a longer one. Long keys that begin alike
// have different ids.
func TestCollapseIDHasAtMost64Bytes(t *testing.T) {
	t.Parallel()

	const match = "1234567890123456789" // the longest id

	key := strings.Repeat("k", 44)
	if got, want := (alert.Alert{MatchID: match, Key: key}).CollapseID(), match+":"+key; got != want {
		t.Errorf("of 64 bytes: %q, want %q", got, want)
	}

	a, b := alert.Alert{MatchID: match, Key: key + "1"}.CollapseID(), alert.Alert{MatchID: match, Key: key + "2"}.CollapseID()
	if len(a) > 64 || len(b) > 64 || a == b || !strings.HasPrefix(a, match+":") {
		t.Errorf("of 65 bytes: %q and %q, want two ids of at most 64 that begin with the match", a, b)
	}
}

func TestNotificationHasThreadKindAndCollapseID(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m := wicketAlert(w)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))
	m.Key = strings.Repeat("long", 40)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	d, _ := w.Phones.Device(crickettest.Token("ann"))
	if len(d.Alerts) != 2 {
		t.Fatalf("the phone shows %+v, want 2 notifications", d.Alerts)
	}

	if c := d.Alerts[0].Collapse; c != "7:S1:W1" {
		t.Errorf("the collapse id is %q, want 7:S1:W1", c)
	}

	if c := d.Alerts[1].Collapse; len(c) > 64 || !strings.HasPrefix(c, "7:") {
		t.Errorf("the collapse id of a long key is %q, want at most 64 bytes that begin with 7:", c)
	}

	var got struct {
		APS struct {
			Thread string `json:"thread-id"`
			Sound  string `json:"sound"`
		} `json:"aps"`
		MatchID string `json:"matchId"`
		Kind    string `json:"kind"`
	}
	testkit.Must(t, json.Unmarshal(d.Alerts[0].Payload, &got))

	if got.APS.Thread != "7" || got.APS.Sound != "default" || got.MatchID != "7" || got.Kind != "wicket" {
		t.Errorf("the payload is %s, want thread 7, the default sound, match 7 and kind wicket", d.Alerts[0].Payload)
	}
}

func TestAlertReachesOnlyFollowersWithAPhone(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	now := w.Clock.Now()
	addFollower(w, "ann", "11")
	addFollower(w, "unfollowed", "11", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.ExpiresAt = now.Unix() })
	addFollower(w, "phone expired", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.ExpiresAt = now.Unix() })
	addFollower(w, "another match", "11", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.MatchID = "8" })
	addFollower(w, "tester", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.Environment = "sandbox" })
	testkit.PutRows(w.World, tables.Follows,
		follower.FollowRow{
			Follow:    follower.Follow{MatchID: "7", UserID: "no phone"},
			TeamID:    "",
			CreatedAt: 1,
			ExpiresAt: now.Add(time.Hour).Unix(),
		})
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	*a.Environment() = "production"
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if got := w.Phones.Tokens(); !slices.Equal(got, []string{crickettest.Token("ann")}) {
		t.Errorf("%d phones got a push, want that of ann only", len(got))
	}
}

func TestEnvironmentDependsOnStageAndURL(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ stage, url, want string }{
		{"prod", "", "production"},
		{"prod", apns2.HostProduction, "production"},
		{"test", apns2.HostDevelopment, "sandbox"},
		{"test", "https://api.sandbox.push.apple.com:2197", "sandbox"},
		{spec.Local, "https://127.0.0.1:1", ""},
	} {
		if got := push.EnvironmentOf(app.Env{Stage: c.stage, Setting: func(string) string { return c.url }}); got != c.want {
			t.Errorf("URL %q at stage %s: environment %q, want %q", c.url, c.stage, got, c.want)
		}
	}
}

func TestUnregisteredDevicesAreDeletedUnlessRegisteredAgain(t *testing.T) {
	t.Parallel()

	w := worldWithFollowedMatch(t)
	for _, name := range []string{"alive", "unregistered", "bad", "again", "meanwhile"} {
		addFollower(w, name, "11")
	}

	w.Phones.Answer(crickettest.Token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.Phones.Answer(crickettest.Token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	w.Phones.Answer(crickettest.Token("meanwhile"), apns.Refuse(apns2.ReasonUnregistered))
	before := apns.Refuse(apns2.ReasonUnregistered)
	before.Since = w.Clock.Now().Add(-time.Minute)
	w.Phones.Answer(crickettest.Token("again"), before)

	// zoe has the bad one's phone now
	for name, owner := range map[string]string{"alive": "alive", "unregistered": "unregistered", "bad": "zoe"} {
		testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{UserID: "#TOKEN#" + crickettest.Token(name), DeviceToken: "~", Owner: owner})
	}

	env := w.Env(alert.SendAlertsFunction())
	next, once := env.AWS.HTTPClient, false
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") && !once { // Apple has answered
			once = true

			addFollower(w, "meanwhile", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.UpdatedAt++ })
		}

		return next.Do(r)
	})
	testkit.Must(t, openAlerter(w, env).SendAlert(w.NewContext(), wicketAlert(w)))

	var left []string

	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		if d.Owner != "" {
			d.UserID = "token of " + d.Owner
		}

		left = append(left, d.UserID)
	}

	slices.Sort(left)

	if diff := cmp.Diff([]string{"again", "alive", "meanwhile", "token of alive", "token of zoe"}, left); diff != "" {
		t.Errorf("the devices left differ:\n%s", diff)
	}

	if n := w.Logs.SumMetric(tables.AlertsGone); n != 4 {
		t.Errorf("%v tokens are unregistered, want 4", n)
	}
}

func TestAlertIsSentOnce(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))

	m := wicketAlert(w)
	for range 3 { // delivered again, and sent again later
		testkit.Must(t, a.SendAlert(w.NewContext(), m))
		m.At++

		addFollower(w, "zoe", "11") // after the alert was sent
	}

	if n := ringCount(w, "ann"); n != 1 || ringCount(w, "zoe") != 0 {
		t.Errorf("the phone rang %d times, that of a later follower %d times; want 1 and 0", n, ringCount(w, "zoe"))
	}

	m.Key = "S1:W2"
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	if n := ringCount(w, "ann"); n != 2 {
		t.Errorf("after the second wicket the phone rang %d times, want 2", n)
	}

	r := testkit.Row[alert.AlertRow](w.World, tables.Alerts, "7", "S1:W1")
	if want := (alert.AlertRow{MatchID: "7", Part: "S1:W1", Done: true, TTL: w.Clock.Now().Add(alert.KeepAlerts).Unix()}); !cmp.Equal(want,
		r) {
		t.Errorf("the row differs:\n%s", cmp.Diff(want, r))
	}

	if left := testkit.Rows[map[string]any](w.World, tables.Locks); len(left) > 0 {
		t.Errorf("the locks %v are left, want none", left)
	}
}

func TestConcurrentDeliveriesSendOnce(t *testing.T) {
	t.Parallel()

	w := worldWithFollowedMatch(t)
	for i := range 20 {
		addFollower(w, fmt.Sprint("fan ", i), "11")
	}

	m := wicketAlert(w)
	workers := []*alert.Alerter{openAlerter(w, w.Env(alert.SendAlertsFunction())), openAlerter(w, w.Env(alert.SendAlertsFunction()))}

	var wg sync.WaitGroup
	for _, a := range workers {
		wg.Go(func() {
			if err := a.SendAlert(w.NewContext(), m); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()
	testkit.Drain(w.World, tables.AlertQueue, time.Hour, workers[0].SendAlert)

	for i := range 20 {
		if n := ringCount(w, fmt.Sprint("fan ", i)); n != 1 {
			t.Errorf("phone %d rang %d times, want 1", i, n)
		}
	}
}

// While another worker holds the lock of a part, the message is sent again with a
// delay. Its handling does not fail.
func TestAlertWaitsWhileAnotherWorkerHasIt(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	m := wicketAlert(w)
	a, other := openAlerter(w, w.Env(alert.SendAlertsFunction())), openAlerter(w, w.Env(alert.SendAlertsFunction()))
	lease, err := (*other.Locks()).Take(w.NewContext(), "alert:7:"+m.Part(), "other")
	testkit.Must(t, err)

	for n := 1; n <= tables.AlertQueue.MaxReceiveCount+1; n++ {
		testkit.Must(t, a.SendAlert(w.NewContext(), m))

		if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != n || got[n-1].Try != 0 || ringCount(w, "ann") != 0 {
			t.Fatalf("the messages are %+v, and the phone rang %d times; want %d messages with try 0, and 0", got, ringCount(w, "ann"), n)
		}

		w.MoveClock(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, lease.Extend(w.NewContext()))
	}

	testkit.Must(t, lease.Release(w.NewContext()))
	testkit.Drain(w.World, tables.AlertQueue, time.Hour, a.SendAlert)

	if n := ringCount(w, "ann"); n != 1 {
		t.Errorf("the phone rang %d times, want 1", n)
	}
}

// A worker that stalled leaves the remaining followers to the worker that took over.
// At most the page in which it stalled is sent twice.
func TestWorkerStopsWhenItsLeaseExpired(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		hook  func(a *alert.Alerter, now func() time.Time)
		calls int // of the hook; it stalls in the last one
		twice []string
	}{
		"before a page": {func(a *alert.Alerter, now func() time.Time) { (*a.Locks()).Now = now }, 1, nil},
		"in a page":     {func(a *alert.Alerter, now func() time.Time) { *a.Now() = now }, 2, []string{"2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := worldWithFollowedMatch(t)
			for i := range 6 {
				addFollower(w, fmt.Sprint(i), "11")
			}

			m := wicketAlert(w)
			slow, quick := openAlerter(w, w.Env(alert.SendAlertsFunction())), openAlerter(w, w.Env(alert.SendAlertsFunction()))
			slow.Sizes().Page, quick.Sizes().Page = 2, 2
			stalled, calls := false, 0

			c.hook(slow, func() time.Time {
				if progressOf(w, m) == "1" {
					calls++
				}

				if !stalled && calls == c.calls {
					stalled = true

					w.MoveClock(w.Clock.Now().Add(alert.AlertLease + time.Second))
					testkit.Must(t, quick.SendAlert(w.NewContext(), m))
				}

				return w.Clock.Now()
			})
			testkit.Must(t, slow.SendAlert(w.NewContext(), m))

			if n := testkit.Drain(w.World, tables.AlertQueue, time.Hour, quick.SendAlert); n != 1 || !stalled {
				t.Errorf("the worker stalled: %v, and left %d messages; want true and 1", stalled, n)
			}

			if r := testkit.Row[alert.AlertRow](w.World, tables.Alerts, "7", m.Part()); !r.Done || r.After != "" {
				t.Errorf("the recorded progress is %+v, want only that it is done: it never goes back", r)
			}

			for i := range 6 {
				name, want := fmt.Sprint(i), 1
				if slices.Contains(c.twice, name) {
					want = 2
				}

				if n := ringCount(w, name); n != want || len(alertsOf(w, name)) != 1 {
					t.Errorf("phone %s rang %d times and shows %q, want %d times and one notification", name, n, alertsOf(w, name), want)
				}
			}
		})
	}
}

// progressOf returns the last follower to whom the part of the message was sent.
func progressOf(w *crickettest.World, m alert.Alert) string {
	w.T.Helper()
	r, _, err := dynamo.Get[alert.AlertRow](w.T.Context(), w.DB(), tables.GetAlert, m.MatchID, m.Part())
	testkit.Must(w.T, err)

	return r.After
}

// 2,500 followers get the alert once each, from more than one message.
func TestManyFollowersAreDividedIntoMessages(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)

	const n = 2500

	names := addFollowers(w, n, func(i int) string {
		h := crickettest.Token(fmt.Sprint("user ", i))
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + h[16:20] + "-" + h[20:32]
	})
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m := wicketAlert(w)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 {
		t.Errorf("%d messages are for the rest of %d followers, want 1", len(got), n)
	}

	if d := w.Logs.SumMetric(tables.AlertsDelivered); d != 2000 {
		t.Errorf("the first message delivered %v alerts, want 2000", d)
	}

	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	expectOneRing(w, names)
}

// TestCostOfAMessageIsIndependentOfTheFollowers: a message reads its own followers only, and
// of the others no more than how far they reach.
func TestCostOfAMessageIsIndependentOfTheFollowers(t *testing.T) {
	t.Parallel()

	cost := func(followers int) float64 {
		w := worldWithFollowedMatch(t)
		addFollowers(w, followers, func(i int) string { return fmt.Sprintf("fan-%04d", i) })
		a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
		*a.Sizes() = alert.BatchSizes{Message: 10, Part: 400, Page: 10}

		return w.CountUnits(func() { testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w))) }).Reads
	}
	if few, many := cost(20), cost(400); few != many {
		t.Errorf("the first message reads %v units of 20 followers and %v of 400, want the same", few, many)
	}
}

// TestPagesShareAStart: the display and the channel of an audience are read for the first page
// only. Each page reads whether the match is over.
func TestPagesShareAStart(t *testing.T) {
	t.Parallel()

	reads := func(page int) int {
		w := worldWithFollowedMatch(t)
		storeDisplays(w)

		for i := range 6 {
			addFollower(w, fmt.Sprint(i), "11", withPushToStart(18))
		}

		a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
		*a.Sizes() = alert.BatchSizes{Message: 10, Part: 10, Page: page}

		return w.CountCalls(func() { testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w))) })["GetItem"]
	}
	if one, three := reads(6), reads(2); three != one+2 {
		t.Errorf("one page makes %d calls of GetItem and three make %d, want 2 more", one, three)
	}
}

// addFollowers stores n followers of match 7 and their phones.
func addFollowers(w *crickettest.World, n int, name func(i int) string) (names []string) {
	w.T.Helper()
	now := w.Clock.Now()

	var (
		fs []follower.FollowRow
		ds []follower.DeviceRow
	)

	for i := range n {
		user := name(i)
		names = append(names, user)
		fs = append(fs, follower.FollowRow{
			Follow:    follower.Follow{MatchID: "7", UserID: user},
			TeamID:    "",
			CreatedAt: now.UnixMilli(),
			ExpiresAt: now.Add(96 * time.Hour).Unix(),
		})
		ds = append(ds, follower.DeviceRow{
			UserID:      user,
			DeviceToken: crickettest.Token(user),
			OSMajor:     18,
			UpdatedAt:   now.UnixMilli(),
			ExpiresAt:   now.Add(time.Hour).Unix(),
		})
	}

	testkit.PutRows(w.World, tables.Follows, fs...)
	testkit.PutRows(w.World, tables.Devices, ds...)

	return names
}

// expectOneRing fails the test unless each of these phones rang once.
func expectOneRing(w *crickettest.World, names []string) {
	w.T.Helper()

	for _, name := range names {
		if n := ringCount(w, name); n != 1 {
			w.T.Errorf("the phone of %s rang %d times, want 1", name, n)
		}
	}
}

// A part that is larger than estimated is divided again, also if the ids do not
// indicate the number of followers.
func TestLargePartIsDividedAgain(t *testing.T) {
	t.Parallel()

	for kind, name := range map[string]func(int) string{
		"words":           func(i int) string { return []string{"ann", "bob", "cy", "Zoë", "~", "0"}[i%6] + fmt.Sprint(i) },
		"all alike":       func(i int) string { return fmt.Sprintf("00000000-%04d", i) },
		"most at one end": func(i int) string { return crickettest.Token(fmt.Sprint(i))[:8] + strings.Repeat("f", i%3) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			names := addFollowers(w, 47, name)
			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			*a.Sizes() = alert.BatchSizes{Message: 5, Part: 4, Page: 2}
			testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

			if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert); n < 9 {
				t.Errorf("%d messages for 42 followers, want 9 or more", n)
			}

			expectOneRing(w, names)
		})
	}
}

// TestPartIsDividedByItsOwnFollowers: how a part is divided does not depend on the followers
// that other parts have.
func TestPartIsDividedByItsOwnFollowers(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	names := addFollowers(w, 64, func(i int) string { return fmt.Sprintf("%02x", 4*i) })
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	*a.Sizes() = alert.BatchSizes{Message: 4, Part: 4, Page: 4}
	m := wicketAlert(w)
	m.IDRange = activity.IDRange{Until: "7f"}
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	if parts := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(parts) < 7 { // of 28 followers, four each
		t.Errorf("the messages are %+v, want 7 parts or more", parts)
	}

	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	expectOneRing(w, names[:32])

	if n := ringCount(w, names[32]); n != 0 {
		t.Errorf("the first phone of another part rang %d times, want 0", n)
	}
}

func TestUnreachedFollowersAreRetried(t *testing.T) {
	t.Parallel()

	for name, reason := range map[string]string{"busy": apns2.ReasonServiceUnavailable, "too many": apns2.ReasonTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := worldWithFollowedMatch(t)
			for _, name := range []string{"ann", "bob", "cy", "dan"} {
				addFollower(w, name, "11")
			}

			busy := apns.Refuse(reason)
			busy.Times = 3*8 - 1 // all attempts of two runs, and all but one of a third
			w.Phones.Answer(crickettest.Token("bob"), busy)
			w.Phones.Answer(crickettest.Token("cy"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			w.Phones.Answer(crickettest.Token("dan"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			m := wicketAlert(w)
			testkit.Must(t, a.SendAlert(w.NewContext(), m))

			again := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)
			if len(again) != 1 || !slices.Equal(again[0].Users, []string{"bob", "cy", "dan"}) || again[0].Try != 1 {
				t.Fatalf("the messages are %+v, want one for bob, cy and dan with try 1", again)
			}

			setPreferences(w, "dan", preferOnly()) // no longer wants alerts
			testkit.Must(t, a.SendAlert(w.NewContext(), m))

			began := w.Clock.Now()
			if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert); n != 2 {
				t.Errorf("%d retries, want 2", n)
			}

			if took := w.Clock.Now().Sub(began); took != 30*time.Second {
				t.Errorf("the retries took %v, want 30s", took)
			}

			for name, want := range map[string]int{"ann": 1, "bob": 1, "cy": 1, "dan": 0} {
				if n := ringCount(w, name); n != want {
					t.Errorf("%s's phone rang %d times, want %d", name, n, want)
				}
			}

			if got := w.Logs.SumMetric(tables.AlertsRetried); got != 4 {
				t.Errorf("%v followers were retried, want 4", got)
			}
		})
	}
}

// Each page has its own retry message.
func TestUnreachedFollowersOfEachPageAreRetried(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8

	names := []string{"ann", "bob", "cy", "dan"}
	for _, name := range names {
		addFollower(w, name, "11")
	}

	w.Phones.Answer(crickettest.Token("ann"), busy)
	w.Phones.Answer(crickettest.Token("dan"), busy)
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	a.Sizes().Page = 2
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	expectOneRing(w, names)
}

func TestRetriesEndWithinAnHour(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	w.Phones.Answer(crickettest.Token("ann"), apns.Refuse(apns2.ReasonServiceUnavailable))
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	began := w.Clock.Now()
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if n := testkit.Drain(w.World, tables.AlertQueue, 2*time.Hour, a.SendAlert); n != alert.MaxAlertTries {
		t.Errorf("%d retries, want %d", n, alert.MaxAlertTries)
	}

	if took := w.Clock.Now().Sub(began); took < 45*time.Minute || took > time.Hour {
		t.Errorf("the last retry was after %v, want 45 min to 1 h", took)
	}

	if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"gave up: followers were not reached"}) {
		t.Errorf("the log has the complaints %q, want one", got)
	}
}

func TestAlertIsRetriedWithoutApple(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	testkit.Must(t, w.Phones.Close())
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || got[0].Try != 1 || got[0].Part() != "S1:W1" {
		t.Errorf("the messages are %+v, want the alert with try 1", got)
	}

	if got := w.Logs.Find(slog.LevelWarn, "cannot connect to Apple"); len(got) != 1 || got[0]["err"] == nil {
		t.Errorf("the log has %v, want the reason", got)
	}

	if n := w.Logs.SumMetric(tables.AppleFailures); n != 1 {
		t.Errorf("%v failures of Apple are counted, want 1", n)
	}

	w.Logs.TakeWarnings()
}

// A push that Apple does not answer does not delay the other followers.
func TestUnansweredPushDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	addFollower(w, "slow", "11")
	w.Phones.Answer(crickettest.Token("slow"), apns.Answer{Slow: 24 * time.Hour, Times: 1})
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	*a.SendTimeout() = 100 * time.Millisecond
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || !slices.Contains(got[0].Users, "slow") {
		t.Fatalf("the messages are %+v, want one for the slow phone", got)
	}

	*a.SendTimeout() = time.Minute
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)

	for _, name := range []string{"ann", "slow"} {
		if got := alertsOf(w, name); len(got) != 1 {
			t.Errorf("%s got the alerts %q, want 1", name, got)
		}
	}
}

// TestPushesOfAlertsExpire: Apple keeps what a phone that is offline missed for an hour, and a
// reminder until the match starts.
func TestPushesOfAlertsExpire(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		alert func(*crickettest.World) alert.Alert
		until func(now time.Time) time.Time
		want  []string // the types of the pushes
	}{
		"a wicket":   {wicketAlert, func(now time.Time) time.Time { return now.Add(time.Hour) }, []string{"alert"}},
		"a start":    {startAlert, func(now time.Time) time.Time { return now.Add(time.Hour) }, []string{"liveactivity"}},
		"a reminder": {reminderAlert, func(time.Time) time.Time { return crickettest.KickOff }, []string{"alert"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := worldWithFollowedMatch(t)
			if name != "a reminder" { // it is sent before play
				storeDisplays(w)
			}

			addFollower(w, "ann", "11", withPushToStart(18))

			var (
				mu    sync.Mutex
				types []string
			)

			w.Phones.Observe = func(p apns.Push) {
				mu.Lock()
				defer mu.Unlock()

				types = append(types, p.Type)
				if want := fmt.Sprint(c.until(w.Clock.Now()).Unix()); p.Expires != want {
					t.Errorf("a push of type %s expires at %s, want %s", p.Type, p.Expires, want)
				}
			}
			testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), c.alert(w)))

			if diff := cmp.Diff(c.want, types); diff != "" {
				t.Errorf("the pushes (-want +got):\n%s", diff)
			}
		})
	}
}

// storeDisplays stores the displays and the score of match 7.
func storeDisplays(w *crickettest.World) {
	w.T.Helper()
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
	w.TickAt(w.Ticker(), 0)
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
}

// startAlert is the alert of the start of match 7.
func startAlert(w *crickettest.World) alert.Alert {
	m := wicketAlert(w)
	m.Key, m.Kind, m.Title, m.Body, m.Plain = alert.StartKey, event.Start, "Harbour v Valley", "The match has begun", "The match has begun"

	return m
}

// withPushToStart gives the phone a push-to-start token and a major iOS version.
func withPushToStart(major int) func(*follower.FollowRow, *follower.DeviceRow) {
	return func(_ *follower.FollowRow, d *follower.DeviceRow) {
		d.PushToStart, d.OSMajor = crickettest.Token(d.UserID+" starts"), major
	}
}

func TestStartAlertStartsActivities(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "new", "11", withPushToStart(18))
	addFollower(w, "newer", "12", withPushToStart(26))
	addFollower(w, "new neutral", "", withPushToStart(18))
	addFollower(w, "old", "11", withPushToStart(17))
	addFollower(w, "no token", "11")
	addFollower(w, "spoiler-free", "11", withPushToStart(18))

	p := follower.DefaultPreferences()
	p.SpoilerFree = true
	setPreferences(w, "spoiler-free", p)
	addFollower(w, "uninterested", "11", withPushToStart(18))
	setPreferences(w, "uninterested", preferOnly(event.Wicket))
	addFollower(w, "by hand", "11", withPushToStart(18))

	byHand := follower.DefaultPreferences()
	byHand.ManualStart = true
	setPreferences(w, "by hand", byHand)
	addFollower(w, "asleep", "11", withPushToStart(18))

	asleep := follower.DefaultPreferences()
	asleep.QuietHours = &follower.QuietHours{From: "00:00", To: "23:59", TimeZone: "UTC"}
	setPreferences(w, "asleep", asleep)
	addFollower(w, "dead", "11", withPushToStart(17))
	w.Phones.Answer(crickettest.Token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))
	addFollower(w, "renewed", "11", withPushToStart(17))

	renewed := apns.Refuse(apns2.ReasonUnregistered)
	renewed.Since = w.Clock.Now().Add(-time.Second)
	w.Phones.Answer(crickettest.Token("renewed starts"), renewed)

	starts := map[string]apns.Start{}

	var mu sync.Mutex

	w.Phones.Started = func(s apns.Start) { mu.Lock(); defer mu.Unlock(); starts[s.Token] = s }

	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), startAlert(w)))
	w.MoveClock(w.Clock.Now().Add(time.Second))

	opened := map[string]string{}
	for _, c := range testkit.Rows[activity.Channel](w.World, tables.Channels) {
		opened[c.View] = c.ChannelID
	}

	for name, want := range map[string]struct {
		view    string
		listens bool
	}{"new": {"11", true}, "newer": {"12", true}, "new neutral": {match.Neutral, true}, "old": {"11", false}, "uninterested": {"11", true}} {
		mu.Lock()
		s, ok := starts[crickettest.Token(name+" starts")]
		mu.Unlock()

		if !ok || s.AttributesType != tables.AttributesType || (s.Channel != "") != want.listens ||
			want.listens && s.Channel != opened[want.view] {
			t.Errorf("%s: the start is %+v, want a channel: %v", name, s, want.listens)
			continue
		}

		about := alert.ActivityAttributes{MatchID: "7", TeamID: strings.TrimPrefix(want.view, match.Neutral), Local: "Harbour", Visitor: "Valley"}
		if text, err := json.Marshal(about); err != nil || !bytes.Equal(text, s.Attributes) {
			t.Errorf("%s: the attributes are %s, want %s", name, s.Attributes, text)
		}

		d, _ := w.Phones.Device(s.Update)
		if got := testkit.Row[match.DisplayRow](w.World, tables.Displays,
			match.DisplayKey("7", want.view)); string(d.State) != string(got.Display) || d.Timestamp.Unix() != got.At {
			t.Errorf("%s: the activity shows %s, want %s", name, d.State, got.Display)
		}

		if n := alertsOf(w, name+" starts"); len(n) != 1 || alertsOf(w, name) != nil {
			t.Errorf("%s: %q with the activity and %q as notifications, want one and none", name, n, alertsOf(w, name))
		}
	}

	for name, sound := range map[string]string{"new": "default", "uninterested": ""} {
		d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
		if len(d.Alerts) != 1 || d.Alerts[0].Sound != sound {
			t.Errorf("%s: the start has %+v, want one alert with the sound %q", name, d.Alerts, sound)
		}
	}

	for name, want := range map[string]int{"no token": 1, "spoiler-free": 1, "by hand": 1, "asleep": 0, "dead": 1, "renewed": 1} {
		if _, ok := starts[crickettest.Token(name+" starts")]; ok || ringCount(w, name) != want {
			t.Errorf("%s: an activity started: %v, the phone rang %d times; want false and %d", name, ok, ringCount(w, name), want)
		}
	}

	for name, want := range map[string]string{"dead": "", "renewed": crickettest.Token("renewed starts")} {
		phones, err := follower.ReadDevices(t.Context(), w.DB(), name, w.Clock.Now())
		if err != nil || len(phones) != 1 || phones[0].PushToStart != want {
			t.Errorf("the %s phone is %+v, %v; want the push-to-start token %q", name, phones, err, want)
		}
	}
}

// A start alert that is handled after the end of the match starts no activity, because
// no push would end it.
func TestStartAlertAfterTheEndNotifiesOnly(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(*crickettest.World){
		"in the score": func(w *crickettest.World) {
			last := crickettest.Payload(testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"), "1st Innings", crickettest.Ball{ID: 1, Runs: 1})
			w.SetPayload(strings.Replace(last, "1st Innings", "Aban.", 1))
			w.TickAt(w.Ticker(), 1)
		},
		"by decision": func(w *crickettest.World) { w.DecideEnd("7", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			storeDisplays(w)
			addFollower(w, "old", "11", withPushToStart(17))
			addFollower(w, "new", "11", withPushToStart(18))
			end(w)
			testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), startAlert(w)))

			for _, name := range []string{"old", "new"} {
				if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 0 || ringCount(w, name) != 1 {
					t.Errorf("%d activities of %s started, and the phone rang %d times; want 0 and 1", d.Started, name, ringCount(w, name))
				}
			}

			if n := len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
				t.Errorf("%d channels were opened, want 0", n)
			}
		})
	}
}

// If no channel can be opened, activities start with tokens. If there is no display,
// followers get a notification.
func TestActivitiesStartWithoutAChannel(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "new", "11", withPushToStart(18))
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m := startAlert(w)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	if d, _ := w.Phones.Device(crickettest.Token("new starts")); d.Started != 0 || ringCount(w, "new") != 1 {
		t.Errorf("without a display %d activities started, and the phone rang %d times; want 0 and 1", d.Started, ringCount(w, "new"))
	}

	storeDisplays(w)
	addFollower(w, "other", "11", withPushToStart(18))
	testkit.Must(t, w.DeleteRow(tables.Alerts, "7", alert.StartKey))
	testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()})
	w.Logs.TakeWarnings()
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	for _, name := range []string{"new", "other"} {
		if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 1 {
			t.Errorf("%d activities of %s started, want 1", d.Started, name)
		}
	}

	if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"cannot open a channel: activities start without one"}) {
		t.Errorf("the log has the complaints %q, want one", got)
	}
}

// reminderKeyOf7 is the key of the reminder of match 7.
func reminderKeyOf7(w *crickettest.World) string {
	return alert.ReminderKey + testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").StartTime
}

// reminderAlert is the reminder of match 7.
func reminderAlert(w *crickettest.World) alert.Alert {
	m := startAlert(w)
	m.Key, m.Body = reminderKeyOf7(w), "Starts in 15 minutes"

	return m
}

func TestReminderIsSentOnceToEachUser(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11", withPushToStart(18))
	addFollower(w, "asleep", "11")

	p := follower.DefaultPreferences()
	p.QuietHours = &follower.QuietHours{From: "10:00", To: "12:00", TimeZone: "UTC"}
	setPreferences(w, "asleep", p)
	addFollower(w, "claimed", "11")
	testkit.PutRows(w.World, tables.Prematch,
		alert.PrematchRow{
			MatchID:   "7#claimed",
			UserID:    "claimed",
			ClaimedBy: "another",
			Start:     crickettest.KickOff.Format(tables.TimeLayout),
			TTL:       w.Clock.Now().Add(time.Hour).Unix(),
		})
	addFollower(w, "mine", "11")
	testkit.PutRows(w.World, tables.Prematch,
		alert.PrematchRow{
			MatchID:   "7#mine",
			UserID:    "mine",
			ClaimedBy: reminderKeyOf7(w),
			Start:     crickettest.KickOff.Format(tables.TimeLayout),
			TTL:       w.Clock.Now().Add(time.Hour).Unix(),
		})
	addFollower(w, "busy", "11")

	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.Phones.Answer(crickettest.Token("busy"), busy)
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	testkit.Must(t, a.SendAlert(w.NewContext(), reminderAlert(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.DeleteRow(tables.Alerts, "7", reminderKeyOf7(w))) // another job sends the reminder again
	m := reminderAlert(w)
	m.Until = "zzz"
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	for name, want := range map[string]int{"ann": 1, "asleep": 0, "claimed": 0, "mine": 1, "busy": 1} {
		if n := ringCount(w, name); n != want {
			t.Errorf("%s got %d reminders, want %d", name, n, want)
		}
	}

	got := testkit.Row[alert.PrematchRow](w.World, tables.Prematch, alert.ReminderClaim("7", "ann")...)
	if want := (alert.PrematchRow{
		MatchID:   "7#ann",
		UserID:    "ann",
		ClaimedBy: reminderKeyOf7(w),
		Start:     crickettest.KickOff.Format(tables.TimeLayout),
		TTL:       crickettest.KickOff.Add(-time.Hour).Add(alert.KeepReminder).Unix(),
	}); got != want {
		t.Errorf("the claim differs:\n%s", cmp.Diff(want, got))
	}

	if d, _ := w.Phones.Device(crickettest.Token("ann starts")); d.Started > 0 {
		t.Error("the reminder started an activity")
	}
}

// TestClaimsOfAMatchAreSpread: the claims of each user have a partition of their own, which
// takes 1,000 writes a second. Reminders are claimed in batches: of 100 reads and of 25
// writes.
func TestClaimsOfAMatchAreSpread(t *testing.T) {
	t.Parallel()

	const users = 120
	for name, c := range map[string]struct {
		of   func(*crickettest.World) alert.Alert
		want map[string]int
	}{ // with the preferences and the lock
		"reminders": {reminderAlert, map[string]int{"BatchGetItem": 2 + 2, "BatchWriteItem": 5, "PutItem": 1}},
		"starts":    {startAlert, map[string]int{"BatchGetItem": 2, "PutItem": users + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := worldWithFollowedMatch(t)
			if name == "starts" {
				storeDisplays(w)
			}

			for n := range users {
				addFollower(w, fmt.Sprintf("fan%03d", n), "11", withPushToStart(17))
			}

			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))

			calls := w.CountCalls(func() { testkit.Must(t, a.SendAlert(w.NewContext(), c.of(w))) })
			for operation := range calls {
				if !slices.Contains([]string{"BatchGetItem", "BatchWriteItem", "PutItem"}, operation) {
					delete(calls, operation)
				}
			}

			if diff := cmp.Diff(c.want, calls); diff != "" {
				t.Errorf("the calls differ (-want +got):\n%s", diff)
			}

			partitions := map[string]bool{}
			for _, claim := range testkit.Rows[alert.PrematchRow](w.World, tables.Prematch) {
				partitions[claim.MatchID] = true
			}

			if len(partitions) != users {
				t.Errorf("the claims of %d users are in %d partitions, want as many", users, len(partitions))
			}
		})
	}
}

func TestInvalidAndOldAlertsAreNotSent(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")

	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	for name, edit := range map[string]func(*alert.Alert){
		"a bad match":         func(m *alert.Alert) { m.MatchID = "7/../8" },
		"no match":            func(m *alert.Alert) { m.MatchID = "" },
		"an unknown match":    func(m *alert.Alert) { m.MatchID = "8" },
		"no key":              func(m *alert.Alert) { m.Key = "" },
		"an endless key":      func(m *alert.Alert) { m.Key = strings.Repeat("k", alert.MaxKey+1) },
		"no kind":             func(m *alert.Alert) { m.Kind = "" },
		"an unknown kind":     func(m *alert.Alert) { m.Kind = "boundary" },
		"no title":            func(m *alert.Alert) { m.Title = "" },
		"a text beyond Apple": func(m *alert.Alert) { m.Body = strings.Repeat("x", push.MaxPayload) },
	} {
		m := wicketAlert(w)
		edit(&m)

		if err := a.SendAlert(w.NewContext(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%s: error %v, want Invalid", name, err)
		}
	}

	for field, edit := range map[string]func(*alert.Alert){
		"matchId": func(m *alert.Alert) { m.MatchID = "" },
		"key":     func(m *alert.Alert) { m.Key = "" },
		"kind":    func(m *alert.Alert) { m.Kind = "" },
		"title":   func(m *alert.Alert) { m.Title = "" },
	} {
		m := wicketAlert(w)
		edit(&m)

		if p, ok := errors.AsType[*problem.Error](a.SendAlert(w.NewContext(), m)); !ok || p.Field != field {
			t.Errorf("without %s: the problem is %+v, want that it names the field", field, p)
		}
	}

	longest := wicketAlert(w)
	longest.Key = strings.Repeat("k", alert.MaxKey)
	testkit.Must(t, a.SendAlert(w.NewContext(), longest))
	old := wicketAlert(w)
	old.At = w.Clock.Now().Add(-alert.MaxAlertAge - time.Second).Unix()
	testkit.Must(t, a.SendAlert(w.NewContext(), old))
	reminder := reminderAlert(w)
	w.MoveClock(crickettest.KickOff)
	testkit.Must(t, a.SendAlert(w.NewContext(), reminder))

	if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"dropped an alert that is too old", "dropped an alert that is too old"}) {
		t.Errorf("the log has the complaints %q, want two", got)
	}

	if n := ringCount(w, "ann"); n != 1 {
		t.Errorf("the phone rang %d times, want once, for the key of %d bytes", n, alert.MaxKey)
	}
}

// TestAlertsOfAnInactiveLeagueAreDropped: the followers of its matches get no alert. When the
// league is active again, they get alerts within a minute.
func TestAlertsOfAnInactiveLeagueAreDropped(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "ann", "11")
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))

	league := catalog.ProvidedLeague{LeagueID: testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").LeagueID}
	for n, active := range []bool{false, true} {
		league.Active = active
		testkit.PutRows(w.World, tables.Leagues, league)
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

		if got := ringCount(w, "ann"); got != n {
			t.Errorf("with an active league %v the phone rang %d times, want %d", active, got, n)
		}
	}
}

// outcome is the result of send-alerts, without times and numbers of deliveries.
type outcome struct {
	Alerts  map[string]string // by token
	Started []string
	Rows    []alert.AlertRow
	Devices []string
	Claims  []alert.PrematchRow
	Locks   int
	Queued  []alert.Alert
}

func outcomeOf(w *crickettest.World) outcome {
	w.T.Helper()

	o := outcome{
		Alerts: map[string]string{},
		Locks:  len(testkit.Rows[map[string]any](w.World, tables.Locks)),
		Queued: testkit.Messages[alert.Alert](w.World, tables.AlertQueue),
	}
	for _, token := range w.Phones.Tokens() {
		d, _ := w.Phones.Device(token)
		for _, a := range d.Alerts {
			if a.Collapse != "" {
				o.Alerts[token] += a.Collapse + "|" + a.Title + "|" + a.Body + ";"
			}
		}

		if d.Started > 0 {
			o.Started = append(o.Started, fmt.Sprint(token, " times ", d.Started))
		}
	}

	for _, r := range testkit.Rows[alert.AlertRow](w.World, tables.Alerts) {
		r.TTL = 0
		o.Rows = append(o.Rows, r)
	}

	slices.SortFunc(o.Rows, func(a, b alert.AlertRow) int { return strings.Compare(a.Part, b.Part) })

	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		o.Devices = append(o.Devices, d.UserID+" "+d.DeviceToken+" "+d.PushToStart)
	}

	slices.Sort(o.Devices)

	for _, c := range testkit.Rows[alert.PrematchRow](w.World, tables.Prematch) {
		c.TTL = 0
		o.Claims = append(o.Claims, c)
	}

	slices.SortFunc(o.Claims, func(a, b alert.PrematchRow) int { return strings.Compare(a.UserID, b.UserID) })

	return o
}

// sendWithCrash handles a message in the process p, which may crash, handles it again
// after its visibility timeout, and then handles all messages that were sent. The calls
// of spared may fail without an error of the message.
func sendWithCrash(w *crickettest.World, p *dynamotest.Process, m alert.Alert, size alert.BatchSizes, spared ...string) outcome {
	w.T.Helper()
	a, again := openAlerter(w, w.CrashingEnv(alert.SendAlertsFunction(), p)), openAlerter(w, w.Env(alert.SendAlertsFunction()))

	*a.Sizes(), *again.Sizes() = size, size
	if p.Ended(a.SendAlert(w.NewContext(), m), spared...) {
		w.MoveClock(w.Clock.Now().Add(alert.SendAlertsFunction().VisibilityTimeout()))
		testkit.Must(w.T, again.SendAlert(w.NewContext(), m))
	}

	testkit.Drain(w.World, tables.AlertQueue, time.Hour, again.SendAlert)

	return outcomeOf(w)
}

// TestAlerterOpensWithItsKey: without the key for Apple it does not open, rather than to open
// and send nothing.
func TestAlerterOpensWithItsKey(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "fan", "11")
	a := testkit.Open(w.World, alert.SendAlertsFunction(), alert.OpenAlerter)
	testkit.Must(t, a.SendAlert(w.NewContext(), rainAlert(w)))

	if d := w.Logs.SumMetric(tables.AlertsDelivered); d != 1 {
		t.Errorf("with the key %v alerts were delivered, want 1", d)
	}

	w.Settings[tables.APNSKey] = "{}"
	if _, err := alert.OpenAlerter(w.NewContext(), w.Env(alert.SendAlertsFunction())); err == nil {
		t.Error("it opens without a key")
	}
}

func TestAlertIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		for _, name := range []string{"alive", "busy", "dead", "spoiler-free"} {
			addFollower(w, name, "11")
		}

		prefers := follower.DefaultPreferences()
		prefers.SpoilerFree = true
		setPreferences(w, "spoiler-free", prefers)
		w.Phones.Answer(crickettest.Token("dead"), apns.Refuse(apns2.ReasonUnregistered))
		busy := apns.Refuse(apns2.ReasonServiceUnavailable)
		busy.Times = 8
		w.Phones.Answer(crickettest.Token("busy"), busy)
		o := sendWithCrash(w, p, rainAlert(w), alert.BatchSizes{Message: 10, Part: 10, Page: 3})
		// whether there was a retry depends on the crash
		o.Rows = slices.DeleteFunc(o.Rows, func(r alert.AlertRow) bool { return strings.Contains(r.Part, "#") })

		return o
	})
}

func TestDividedAlertIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		addFollowers(w, 7, func(i int) string { return fmt.Sprintf("%02x", 36*i) })

		return sendWithCrash(w, p, wicketAlert(w), alert.BatchSizes{Message: 3, Part: 2, Page: 2})
	})
}

func TestReminderIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		addFollowers(w, 2, func(i int) string { return fmt.Sprint("fan ", i) })

		o := sendWithCrash(w, p, reminderAlert(w), alert.BatchSizes{Message: 10, Part: 10, Page: 10})
		for token, text := range o.Alerts {
			o.Alerts[token], _, _ = strings.Cut(text, "Starts in") // the minutes depend on the crash
		}

		return o
	})
}

// After a crash no activity is started twice, and every follower is alerted. A user
// who was claimed before the crash gets the notification, whether or not the activity
// started.
func TestStartIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		storeDisplays(w)
		addFollower(w, "new", "11", withPushToStart(18))
		addFollower(w, "old", "", withPushToStart(17))
		addFollower(w, "dead", "", withPushToStart(17))
		addFollower(w, "watches", "11", withPushToStart(18), withActivity)
		w.Phones.Answer(crickettest.Token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))

		// an activity starts without a channel
		o := sendWithCrash(w, p, startAlert(w), alert.BatchSizes{Message: 10, Part: 10, Page: 10}, "* *cricket-channels")
		for _, name := range []string{"new", "old"} {
			d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
			if d.Started > 1 || d.Started == 0 && ringCount(w, name) == 0 {
				t.Errorf("%d activities of %s started, and the phone rang %d times; want one activity, or none and a ring",
					d.Started, name, ringCount(w, name))
			}

			delete(o.Alerts, crickettest.Token(name))
		}

		for i, d := range o.Devices { // a claimed user gets no second start, so an unregistered token may stay until the next match
			o.Devices[i] = strings.TrimSuffix(d, crickettest.Token("dead starts"))
		}

		o.Started = nil

		return o
	})
}

// withActivity marks the follow: an activity of the match runs.
func withActivity(f *follower.FollowRow, _ *follower.DeviceRow) {
	f.ActivityAt = crickettest.KickOff.Unix()
}

// Each user's activity is started at most once, also if the alert is repeated or the
// app has started one.
func TestActivityStartsOnce(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "fan", "11", withPushToStart(18))
	addFollower(w, "lost", "11", withPushToStart(17)) // iOS 17, so a message of its own: a lost connection affects all pushes on it
	addFollower(w, "watches", "12", withPushToStart(18))
	w.RegisterPhones("18.0", "unfollowing")

	activities := w.Starter(w.Env(activity.StartActivityFunction()))
	for _, name := range []string{"watches", "unfollowing"} {
		_, err := activities.StartActivity(w.NewContext(), crickettest.StartRequest("7", name, "12"))
		testkit.Must(t, err)
	}

	if _, err := activities.StartActivity(w.NewContext(), crickettest.StartRequest("7", "fan", "99")); err == nil {
		t.Error("no error for an activity of a team of another match")
	}

	for _, f := range testkit.Rows[follower.FollowRow](w.World, tables.Follows) {
		if (f.ActivityAt != 0) != (f.UserID == "watches") || f.TeamID == "" || f.UserID == "unfollowing" {
			t.Errorf("the row is %+v, want a team, and an activity only for the user watches", f)
		}
	}

	w.Phones.Answer(crickettest.Token("lost starts"), apns.Answer{Drop: true, Times: 1})
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m := startAlert(w)
	testkit.Must(t, a.SendAlert(w.NewContext(), m))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.DeleteRow(tables.Alerts, "7", alert.StartKey)) // as after a crash before the record
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	for name, want := range map[string]struct{ started, notifications int }{"fan": {1, 1}, "lost": {1, 1}, "watches": {0, 1}} {
		d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
		if got := len(alertsOf(w, name)); d.Started != want.started || got != want.notifications {
			t.Errorf("%d activities of %s started, and %d notifications are shown; want %+v", d.Started, name, got, want)
		}
	}
}

// TestEachDayStartsAnActivity: the activity of the day before has ended, so that the start of
// a day starts another, once.
func TestEachDayStartsAnActivity(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "fan", "11", withPushToStart(18))
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	m := startAlert(w)

	var got []int

	for _, key := range []string{"start", "start:2", "start:3"} {
		m.Key, m.At = key, w.Clock.Now().Unix()
		for range 2 {
			testkit.Must(t, a.SendAlert(w.NewContext(), m))
			d, _ := w.Phones.Device(crickettest.Token("fan starts"))
			got = append(got, d.Started)

			testkit.Must(t, w.DeleteRow(tables.Alerts, "7", key)) // as after a crash before the record
		}

		w.MoveClock(w.Clock.Now().Add(24 * time.Hour))
	}

	if diff := cmp.Diff([]int{1, 1, 2, 2, 3, 3}, got); diff != "" {
		t.Errorf("the activities started after each run differ (-want +got):\n%s", diff)
	}

	claims := testkit.Rows[alert.PrematchRow](w.World, tables.Prematch)

	want := []alert.PrematchRow{{
		MatchID:   "7#fan",
		UserID:    "#START#fan",
		ClaimedBy: "start:3",
		Start:     "start:3",
		TTL:       w.Clock.Now().Add(alert.KeepReminder - 24*time.Hour).Unix(),
	}}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("the claims differ (-want +got):\n%s", diff)
	}
}

// TestActivitiesAreRenewedOnceADay: iOS ends an activity after 8 h. The renewal of the day replaces
// those that would end before play does, without a sound, and those of which the app has reported
// nothing.
func TestActivitiesAreRenewedOnceADay(t *testing.T) {
	t.Parallel()

	const hour = 3600

	for name, c := range map[string]struct {
		since, ended int64 // of the activity before now, in seconds; -1: never
		want         int   // starts
	}{
		"started with the match":           {7 * hour, -1, 1},
		"not reported":                     {-1, -1, 1},
		"started by the app an hour ago":   {hour, -1, 0},
		"ended by the user":                {7 * hour, 5 * hour, 0},
		"ended by the user, and unknown":   {-1, hour, 0},
		"ended yesterday, and not renewed": {-1, 24 * hour, 1},
		"started again after it was ended": {4 * hour, 5 * hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := worldWithFollowedMatch(t)
			storeDisplays(w)

			now := w.Clock.Now().Unix()
			addFollower(w, "fan", "11", withPushToStart(18), func(f *follower.FollowRow, _ *follower.DeviceRow) {
				if c.since >= 0 {
					f.ActivityAt = now - c.since
				}

				if c.ended >= 0 {
					f.ActivityEndedAt = now - c.ended
				}
			})
			addFollower(w, "without a token", "11")

			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			m := startAlert(w)
			m.Key, m.Quiet = event.RenewalKey("start"), true

			for range 2 {
				testkit.Must(t, a.SendAlert(w.NewContext(), m))
				testkit.Must(t, w.DeleteRow(tables.Alerts, "7", m.Key)) // as after a crash before the record
			}

			d, _ := w.Phones.Device(crickettest.Token("fan starts"))
			if d.Started != c.want || len(d.Alerts) > 0 && d.Alerts[0].Sound != "" {
				t.Errorf("%d activities start with %+v, want %d without a sound", d.Started, d.Alerts, c.want)
			}

			if n := ringCount(w, "fan") + ringCount(w, "without a token"); n != 0 {
				t.Errorf("the phones ring %d times, want never", n)
			}
		})
	}
}

// A start that Apple refuses temporarily is retried.
func TestRefusedStartIsRetried(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "fan", "11", withPushToStart(18))

	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all attempts of one run
	w.Phones.Answer(crickettest.Token("fan starts"), busy)
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)

	if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != 1 || ringCount(w, "fan") != 0 {
		t.Errorf("%d activities started, and the phone rang %d times; want 1 and 0", d.Started, ringCount(w, "fan"))
	}
}

// A start that Apple refuses because of our credentials begins when they are right.
func TestStartBeginsWhenTheCredentialsAreRight(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "fan", "11", withPushToStart(18))

	refused := apns.Refuse(apns2.ReasonForbidden)
	refused.Times = 1
	w.Phones.Answer(crickettest.Token("fan starts"), refused)

	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	if err := a.SendAlert(w.NewContext(), startAlert(w)); err == nil {
		t.Fatal("the refusal is no error")
	}

	if n := w.Logs.SumMetric(tables.AppleFailures); n != 1 {
		t.Errorf("%v failures of Apple are counted, want 1", n)
	}

	testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w)))

	if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != 1 || ringCount(w, "fan") != 0 {
		t.Errorf("%d activities started, and the phone rang %d times; want 1 and 0", d.Started, ringCount(w, "fan"))
	}
}

// No activity starts after the end of the match is decided, because no push would end
// it.
func TestNoActivityStartsAfterTheEndIsDecided(t *testing.T) {
	t.Parallel()

	for _, when := range []string{"before", "while the channel is opened"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			storeDisplays(w)
			addFollower(w, "new", "11", withPushToStart(18))
			addFollower(w, "old", "12", withPushToStart(17))

			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			if when == "before" {
				w.DecideEnd("7", 9)
			} else {
				a.Channels().Sender = func(context.Context) (*push.Sender, error) { w.DecideEnd("7", 9); return *a.Sender(), nil }
			}

			testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w)))

			for _, name := range []string{"new", "old"} {
				if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 0 || ringCount(w, name) != 1 {
					t.Errorf("%d activities of %s started, and the phone rang %d times; want 0 and 1", d.Started, name, ringCount(w, name))
				}
			}

			if n := len(testkit.Rows[activity.Channel](w.World, tables.Channels)); when == "before" && n != 0 {
				t.Errorf("%d channels were opened, want 0", n)
			}
		})
	}
}

// Two teams with the same id are one perspective: both are still to be confirmed.
func TestEqualTeamIDsAreOnePerspective(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.VisitorTeamID = f.LocalTeamID
	testkit.PutRows(w.World, tables.Fixtures, f)
	addFollower(w, "fan", "11", withPushToStart(18))
	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), startAlert(w)))

	if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != 1 || len(alertsOf(w, "fan")) != 0 {
		t.Errorf("%d activities started, and the notifications are %q; want 1 and none", d.Started, alertsOf(w, "fan"))
	}
}

// A run that reaches its deadline sends the message again. The next run continues at
// the recorded progress.
func TestRunStopsAtItsDeadline(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	names := addFollowers(w, 6, func(i int) string { return fmt.Sprint(i) })
	a, again := openAlerter(w, w.Env(alert.SendAlertsFunction())), openAlerter(w, w.Env(alert.SendAlertsFunction()))
	a.Sizes().Page, again.Sizes().Page = 2, 2
	m := wicketAlert(w)
	*a.Now() = func() time.Time {
		if progressOf(w, m) == "3" {
			return w.Clock.Now().Add(alert.RunTimeout + time.Second)
		}

		return w.Clock.Now()
	}
	testkit.Must(t, a.SendAlert(w.NewContext(), m))

	if got := testkit.Messages[alert.Alert](w.World,
		tables.AlertQueue); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(m) || progressOf(w, m) != "3" {
		t.Errorf("the progress is %q and the messages are %+v, want 3 and the alert", progressOf(w, m), got)
	}

	if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, again.SendAlert); n != 1 {
		t.Errorf("%d messages for the rest, want 1", n)
	}

	expectOneRing(w, names)
}

// An activity that the app has started before the user follows the match, with or without
// a push token, is the only one.
func TestFollowAfterAnActivityStartsNoSecond(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		token bool
		later time.Duration // from the activity to the alert
		want  int
	}{
		"with a push token":        {true, 0, 0},
		"on a channel":             {false, 0, 0},
		"iOS has removed that one": {true, 12 * time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			storeDisplays(w)
			w.RegisterPhones("18.0", "fan")

			in := crickettest.StartRequest("7", "fan", "11")
			if !c.token {
				in.Body.PushToken = ""
			}

			_, err := w.Starter(w.Env(activity.StartActivityFunction())).StartActivity(w.NewContext(), in)
			testkit.Must(t, err)
			_, err = testkit.Open(w.World, follower.FollowMatchFunction(), follower.OpenFollows).FollowMatch(w.NewContext(),
				&follower.FollowMatch{User: in.User, MatchID: "7"})
			testkit.Must(t, err)

			phone := testkit.Rows[follower.DeviceRow](w.World, tables.Devices)[0]
			phone.PushToStart, phone.Environment = crickettest.Token("fan starts"), "production"
			testkit.PutRows(w.World, tables.Devices, phone)
			w.MoveClock(w.Clock.Now().Add(c.later))
			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w)))

			if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != c.want {
				t.Errorf("%d activities were started by a push, want %d", d.Started, c.want)
			}
		})
	}
}
