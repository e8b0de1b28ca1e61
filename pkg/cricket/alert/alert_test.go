package alert_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/sideshow/apns2"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
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

// alerter opens send-alerts, with less patience for Apple.
func alerter(w *crickettest.World, env app.Env) *alert.Alerter {
	w.T.Helper()
	return alert.NewAlerter(env, w.Sender(env))
}

// fan has a user follow match 7 as a fan of the team, on a phone of the user's
// name, after the edits.
func fan(w *crickettest.World, name, team string, edits ...func(*follower.FollowRow, *follower.DeviceRow)) {
	w.T.Helper()
	now := w.Clock.Now()
	f := follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: name}, TeamID: team, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(96 * time.Hour).Unix(), HasActivity: false}
	d := follower.DeviceRow{
		UserID: name, DeviceToken: crickettest.Token(name), Platform: "ios", OSMajor: 18, Environment: "production",
		UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
	}
	for _, edit := range edits {
		edit(&f, &d)
	}
	testkit.Put(w.World, tables.Follows, f)
	testkit.Put(w.World, tables.Devices, d)
}

func prefer(w *crickettest.World, name string, p follower.Preferences) {
	w.T.Helper()
	testkit.Put(w.World, tables.Preferences, follower.PreferencesRow{UserID: name, Preferences: p, UpdatedAt: 1})
}

// wicketAlert tells of a wicket at this moment.
func wicketAlert(w *crickettest.World) alert.Alert {
	return alert.Alert{
		MatchID: "7", Key: "S1:W1", Kind: event.Wicket, Match: "Harbour v Valley",
		Title: "Wicket! Harbour 7/1 (1.2)", Body: "A Batter b A Bowler 3 (5)", At: w.Clock.Now().Unix(),
	}
}

// rainAlert tells the spoiler-free as well.
func rainAlert(w *crickettest.World) alert.Alert {
	m := wicketAlert(w)
	m.Key, m.Kind, m.Title, m.Body, m.Plain = "rain:1", event.Rain, "Rain: Harbour 7/1", "Harbour 7/1 (1.2)", "Play has stopped"
	return m
}

// toldTo is what a phone was told: title and body of each notification.
func toldTo(w *crickettest.World, name string) (all []string) {
	d, _ := w.Phones.Device(crickettest.Token(name))
	for _, a := range d.Alerts {
		all = append(all, a.Title+"|"+a.Body)
	}
	return all
}

// rung is how often a phone rang.
func rung(w *crickettest.World, name string) (n int) {
	d, _ := w.Phones.Device(crickettest.Token(name))
	for _, a := range d.Alerts {
		n += a.Times
	}
	return n
}

// alerting is a world with match 7 and phones.
func alerting(t *testing.T) *crickettest.World {
	w := crickettest.New(t).WithPhones()
	w.Scripted("7")
	return w
}

// only are the preferences of one who wants alerts of these kinds.
func only(kinds ...event.Kind) follower.Preferences { return follower.Preferences{Alerts: kinds} }

func TestAlertsAsUsersPrefer(t *testing.T) {
	t.Parallel()
	w := alerting(t) // at 11:00 UTC
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
		"nothing":                                {only(), nil},
		"wickets alone":                          {only(event.Wicket), []string{wicket}},
		"key events":                             {keyOnly, nil},
		"spoiler-free":                           {spoilerFree, []string{"Harbour v Valley|Play has stopped"}},
		"quiet over midnight, asleep":            {quiet("22:00", "07:00", "America/Los_Angeles"), nil},
		"quiet over midnight, awake":             {quiet("22:00", "07:00", "Asia/Kolkata"), []string{wicket, rain}},
		"quiet over midnight, before it":         {quiet("22:00", "07:00", "Pacific/Auckland"), nil},
		"quiet in the afternoon":                 {quiet("16:00", "17:00", "Asia/Kolkata"), nil},
		"quiet until it is sent, not when it is": {quiet("10:30", "11:06", "UTC"), []string{wicket, rain}},
	} {
		fan(w, name, "11")
		prefer(w, name, c.prefers)
		defer func() {
			if got := toldTo(w, name); !slices.Equal(got, c.want) {
				t.Errorf("who prefers %s is told %q, want %q", name, got, c.want)
			}
		}()
	}
	fan(w, "unstated", "")
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m, n := wicketAlert(w), rainAlert(w)
	w.To(w.Clock.Now().Add(6 * time.Minute))
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	testkit.Must(t, a.SendAlert(w.Ctx(), n))
	n.Key, n.Plain = "rain:2", "" // nothing that could be said without the score
	prefer(w, "everything", only())
	prefer(w, "unstated", only())
	testkit.Must(t, w.Drop(tables.Follows, "7", "quiet over midnight, awake"))
	testkit.Must(t, w.Drop(tables.Follows, "7", "quiet until it is sent, not when it is"))
	testkit.Must(t, a.SendAlert(w.Ctx(), n))
	if got := toldTo(w, "unstated"); !slices.Equal(got, []string{wicket, rain}) {
		t.Errorf("who stated no preferences is told %q", got)
	}
	if d, s := w.Logs.Sum(tables.AlertsDelivered), w.Logs.Sum(tables.AlertsSuppressed); d != 10 || s != 21 {
		t.Errorf("%v alerts were delivered and %v suppressed", d, s)
	}
}

func TestAlertNotification(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m := wicketAlert(w)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	m.Key = strings.Repeat("long", 40)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	d, _ := w.Phones.Device(crickettest.Token("ann"))
	if len(d.Alerts) != 2 {
		t.Fatalf("the phone shows %+v", d.Alerts)
	}
	if c := d.Alerts[0].Collapse; c != "7:S1:W1" {
		t.Errorf("the collapse id is %q", c)
	}
	if c := d.Alerts[1].Collapse; len(c) > 64 || !strings.HasPrefix(c, "7:") {
		t.Errorf("the collapse id of a long key is %q", c)
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
		t.Errorf("the payload is %s", d.Alerts[0].Payload)
	}
}

func TestAlertsOnlyWhoFollowsOnAPhone(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	now := w.Clock.Now()
	fan(w, "ann", "11")
	fan(w, "unfollowed", "11", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.ExpiresAt = now.Unix() })
	fan(w, "phone expired", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.ExpiresAt = now.Unix() })
	fan(w, "another match", "11", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.MatchID = "8" })
	fan(w, "tester", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.Environment = "sandbox" })
	testkit.Put(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "no phone"}, TeamID: "", CreatedAt: 1, ExpiresAt: now.Add(time.Hour).Unix(), HasActivity: false})
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	*a.Environment() = "production"
	testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
	if got := w.Phones.Tokens(); !slices.Equal(got, []string{crickettest.Token("ann")}) {
		t.Errorf("%d phones are pushed to", len(got))
	}
}

func TestEnvironmentOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stage, url, want string }{
		{"prod", "", "production"},
		{"prod", apns2.HostProduction, "production"},
		{"test", apns2.HostDevelopment, "sandbox"},
		{"test", "https://api.sandbox.push.apple.com:2197", "sandbox"},
		{spec.Local, "https://127.0.0.1:1", ""},
	} {
		if got := push.EnvironmentOf(app.Env{Stage: c.stage, Setting: func(string) string { return c.url }}); got != c.want {
			t.Errorf("the phones of %s at stage %s are %q, want %q", c.url, c.stage, got, c.want)
		}
	}
}

func TestAlertsForgetDeadPhones(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	for _, name := range []string{"alive", "unregistered", "bad", "again", "meanwhile"} {
		fan(w, name, "11")
	}
	w.Phones.Answer(crickettest.Token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.Phones.Answer(crickettest.Token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	w.Phones.Answer(crickettest.Token("meanwhile"), apns.Refuse(apns2.ReasonUnregistered))
	before := apns.Refuse(apns2.ReasonUnregistered)
	before.Since = w.Clock.Now().Add(-time.Minute)
	w.Phones.Answer(crickettest.Token("again"), before)
	env := w.Env(alert.SendAlertsFunction)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteItem") { // Apple has answered
			fan(w, "meanwhile", "11", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.UpdatedAt++ })
		}
		return next.Do(r)
	})
	testkit.Must(t, alerter(w, env).SendAlert(w.Ctx(), wicketAlert(w)))
	var left []string
	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		left = append(left, d.UserID)
	}
	slices.Sort(left)
	if want := []string{"again", "alive", "meanwhile"}; !slices.Equal(left, want) {
		t.Errorf("the phones of %q are left, want %q", left, want)
	}
	if gone := w.Logs.Sum(tables.AlertsGone); gone != 4 {
		t.Errorf("%v phones were gone", gone)
	}
}

func TestAlertIsToldOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m := wicketAlert(w)
	for range 3 { // delivered again, and sent again later
		testkit.Must(t, a.SendAlert(w.Ctx(), m))
		m.At++
		fan(w, "zoe", "11") // too late for this one
	}
	if n := rung(w, "ann"); n != 1 || rung(w, "zoe") != 0 {
		t.Errorf("the phone rang %d times, and that of a later follower %d times", n, rung(w, "zoe"))
	}
	m.Key = "S1:W2"
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if n := rung(w, "ann"); n != 2 {
		t.Errorf("with the next wicket the phone rang %d times", n)
	}
	r := testkit.Row[alert.AlertRow](w.World, tables.Alerts, "7", "S1:W1")
	if want := (alert.AlertRow{MatchID: "7", Part: "S1:W1", After: "ann", Done: true, TTL: w.Clock.Now().Add(alert.KeepAlerts).Unix()}); fmt.Sprint(r) != fmt.Sprint(want) {
		t.Errorf("the row is %+v, want %+v", r, want)
	}
	if left := testkit.Rows[map[string]any](w.World, tables.Locks); len(left) > 0 {
		t.Errorf("the leases %v are left", left)
	}
}

func TestAlertDeliveredTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	for i := range 20 {
		fan(w, fmt.Sprint("fan ", i), "11")
	}
	m := wicketAlert(w)
	workers := []*alert.Alerter{alerter(w, w.Env(alert.SendAlertsFunction)), alerter(w, w.Env(alert.SendAlertsFunction))}
	var wg sync.WaitGroup
	for _, a := range workers {
		wg.Go(func() {
			if err := a.SendAlert(w.Ctx(), m); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	testkit.Drain(w.World, tables.AlertQueue, time.Hour, workers[0].SendAlert)
	for i := range 20 {
		if n := rung(w, fmt.Sprint("fan ", i)); n != 1 {
			t.Errorf("phone %d rang %d times", i, n)
		}
	}
}

// TestAlertInAnothersHands has a message wait as long as another worker has it,
// without its handling failing.
func TestAlertInAnothersHands(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	m := wicketAlert(w)
	a, other := alerter(w, w.Env(alert.SendAlertsFunction)), alerter(w, w.Env(alert.SendAlertsFunction))
	lease, err := (*other.Locks()).Take(w.Ctx(), "alert:7:"+m.Part(), "other")
	testkit.Must(t, err)
	for n := 1; n <= tables.AlertQueue.MaxReceiveCount+1; n++ {
		testkit.Must(t, a.SendAlert(w.Ctx(), m))
		if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != n || got[n-1].Try != 0 || rung(w, "ann") != 0 {
			t.Fatalf("the messages are %+v, and the phone rang %d times", got, rung(w, "ann"))
		}
		w.To(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, lease.Extend(w.Ctx()))
	}
	testkit.Must(t, lease.Release(w.Ctx()))
	testkit.Drain(w.World, tables.AlertQueue, time.Hour, a.SendAlert)
	if n := rung(w, "ann"); n != 1 {
		t.Errorf("the phone rang %d times", n)
	}
}

// TestAlertLosesItsLease has a worker that stalled leave the rest of the
// followers to the one that took over. At most the page it stalled in is told
// twice.
func TestAlertLosesItsLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook  func(a *alert.Alerter, now func() time.Time)
		calls int // of the hook, at the last of which it stalls
		twice []string
	}{
		"before a page": {func(a *alert.Alerter, now func() time.Time) { (*a.Locks()).Now = now }, 1, nil},
		"in a page":     {func(a *alert.Alerter, now func() time.Time) { *a.Now() = now }, 2, []string{"2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			for i := range 6 {
				fan(w, fmt.Sprint(i), "11")
			}
			m := wicketAlert(w)
			slow, quick := alerter(w, w.Env(alert.SendAlertsFunction)), alerter(w, w.Env(alert.SendAlertsFunction))
			slow.Portions().Page, quick.Portions().Page = 2, 2
			stalled, calls := false, 0
			c.hook(slow, func() time.Time {
				if after(w, m) == "1" {
					calls++
				}
				if !stalled && calls == c.calls {
					stalled = true
					w.To(w.Clock.Now().Add(alert.AlertLease + time.Second))
					testkit.Must(t, quick.SendAlert(w.Ctx(), m))
				}
				return w.Clock.Now()
			})
			testkit.Must(t, slow.SendAlert(w.Ctx(), m))
			if n := testkit.Drain(w.World, tables.AlertQueue, time.Hour, quick.SendAlert); n != 1 || !stalled {
				t.Errorf("the worker stalled %v, and left %d messages", stalled, n)
			}
			for i := range 6 {
				name, want := fmt.Sprint(i), 1
				if slices.Contains(c.twice, name) {
					want = 2
				}
				if n := rung(w, name); n != want || len(toldTo(w, name)) != 1 {
					t.Errorf("phone %s rang %d times, and shows %q", name, n, toldTo(w, name))
				}
			}
		})
	}
}

// after is the last follower who is done with.
func after(w *crickettest.World, m alert.Alert) string {
	w.T.Helper()
	r, _, err := dynamo.Get[alert.AlertRow](w.T.Context(), w.DB(), tables.GetAlert, m.MatchID, m.Part())
	testkit.Must(w.T, err)
	return r.After
}

// TestAlertManyFollowers has 2,500 followers told once each, by more than one
// message.
func TestAlertManyFollowers(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	const n = 2500
	names := followers(w, n, func(i int) string {
		h := crickettest.Token(fmt.Sprint("user ", i))
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + h[16:20] + "-" + h[20:32]
	})
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m := wicketAlert(w)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 {
		t.Errorf("%d messages are for the rest of %d followers", len(got), n)
	}
	if d := w.Logs.Sum(tables.AlertsDelivered); d != 2000 {
		t.Errorf("one message told %v followers", d)
	}
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	onceEach(w, names)
}

// followers stores n followers of match 7 and their phones.
func followers(w *crickettest.World, n int, name func(i int) string) (names []string) {
	w.T.Helper()
	now := w.Clock.Now()
	var fs []follower.FollowRow
	var ds []follower.DeviceRow
	for i := range n {
		user := name(i)
		names = append(names, user)
		fs = append(fs, follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: user}, TeamID: "", CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(96 * time.Hour).Unix(), HasActivity: false})
		ds = append(ds, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token(user), OSMajor: 18, UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(time.Hour).Unix()})
	}
	testkit.Put(w.World, tables.Follows, fs...)
	testkit.Put(w.World, tables.Devices, ds...)
	return names
}

func onceEach(w *crickettest.World, names []string) {
	w.T.Helper()
	for _, name := range names {
		if n := rung(w, name); n != 1 {
			w.T.Errorf("the phone of %s rang %d times", name, n)
		}
	}
}

// TestAlertPartsOfParts has parts that turn out too large split again, and ids
// that say nothing of how many there are.
func TestAlertPartsOfParts(t *testing.T) {
	t.Parallel()
	for kind, name := range map[string]func(int) string{
		"words":         func(i int) string { return []string{"ann", "bob", "cy", "Zoë", "~", "0"}[i%6] + fmt.Sprint(i) },
		"all alike":     func(i int) string { return fmt.Sprintf("00000000-%04d", i) },
		"most at a end": func(i int) string { return crickettest.Token(fmt.Sprint(i))[:8] + strings.Repeat("f", i%3) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			names := followers(w, 47, name)
			a := alerter(w, w.Env(alert.SendAlertsFunction))
			*a.Portions() = alert.Portions{Message: 5, Part: 4, Page: 2}
			testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
			if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert); n < 9 {
				t.Errorf("%d messages told 42 followers", n)
			}
			onceEach(w, names)
		})
	}
}

func TestAlertReachesTheUnreachedLater(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{"busy": apns2.ReasonServiceUnavailable, "too many": apns2.ReasonTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			for _, name := range []string{"ann", "bob", "cy", "dan"} {
				fan(w, name, "11")
			}
			busy := apns.Refuse(reason)
			busy.Times = 3*8 - 1 // all tries of two runs, and those of a third but one
			w.Phones.Answer(crickettest.Token("bob"), busy)
			w.Phones.Answer(crickettest.Token("cy"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			w.Phones.Answer(crickettest.Token("dan"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			a := alerter(w, w.Env(alert.SendAlertsFunction))
			m := wicketAlert(w)
			testkit.Must(t, a.SendAlert(w.Ctx(), m))
			again := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)
			if len(again) != 1 || !slices.Equal(again[0].Users, []string{"bob", "cy", "dan"}) || again[0].Try != 1 {
				t.Fatalf("the messages are %+v", again)
			}
			prefer(w, "dan", only()) // thinks better of it meanwhile
			testkit.Must(t, a.SendAlert(w.Ctx(), m))
			began := w.Clock.Now()
			if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert); n != 2 {
				t.Errorf("%d messages tried again", n)
			}
			if took := w.Clock.Now().Sub(began); took != 30*time.Second {
				t.Errorf("they took %v", took)
			}
			for name, want := range map[string]int{"ann": 1, "bob": 1, "cy": 1, "dan": 0} {
				if n := rung(w, name); n != want {
					t.Errorf("%s's phone rang %d times, want %d", name, n, want)
				}
			}
			if got := w.Logs.Sum(tables.AlertsRetried); got != 4 {
				t.Errorf("%v were tried again", got)
			}
		})
	}
}

// TestAlertReachesTheUnreachedOfEachPage has what one page leaves be told apart
// from what another does.
func TestAlertReachesTheUnreachedOfEachPage(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	names := []string{"ann", "bob", "cy", "dan"}
	for _, name := range names {
		fan(w, name, "11")
	}
	w.Phones.Answer(crickettest.Token("ann"), busy)
	w.Phones.Answer(crickettest.Token("dan"), busy)
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	a.Portions().Page = 2
	testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	onceEach(w, names)
}

func TestAlertGivesUpAfterAnHour(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	w.Phones.Answer(crickettest.Token("ann"), apns.Refuse(apns2.ReasonServiceUnavailable))
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	began := w.Clock.Now()
	testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
	if n := testkit.Drain(w.World, tables.AlertQueue, 2*time.Hour, a.SendAlert); n != alert.MaxAlertTries {
		t.Errorf("it was tried again %d times", n)
	}
	if took := w.Clock.Now().Sub(began); took < 45*time.Minute || took > time.Hour {
		t.Errorf("it was given up after %v", took)
	}
	if got := w.Logs.Complaints(); !slices.Equal(got, []string{"followers were not reached"}) {
		t.Errorf("the log complains %q", got)
	}
}

func TestAlertWithoutApple(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	testkit.Must(t, w.Phones.Close())
	testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || got[0].Try != 1 || got[0].Part() != "S1:W1" {
		t.Errorf("the messages are %+v", got)
	}
	w.Logs.Complaints()
}

// TestAlertLeavesTheSlowBehind has a phone that Apple does not answer for keep
// nobody else waiting.
func TestAlertLeavesTheSlowBehind(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	fan(w, "slow", "11")
	w.Phones.Answer(crickettest.Token("slow"), apns.Answer{Slow: 24 * time.Hour, Times: 1})
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	*a.Patience() = 100 * time.Millisecond
	testkit.Must(t, a.SendAlert(w.Ctx(), wicketAlert(w)))
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || !slices.Contains(got[0].Users, "slow") {
		t.Fatalf("the messages are %+v", got)
	}
	*a.Patience() = time.Minute
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	for _, name := range []string{"ann", "slow"} {
		if got := toldTo(w, name); len(got) != 1 {
			t.Errorf("%s is told %q", name, got)
		}
	}
}

// showing stores what each perspective is shown of match 7, and its teams.
func showing(w *crickettest.World) {
	w.T.Helper()
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
	w.TickAt(w.Ticker(), 0)
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
}

// begun tells that match 7 has begun.
func begun(w *crickettest.World) alert.Alert {
	m := wicketAlert(w)
	m.Key, m.Kind, m.Title, m.Body, m.Plain = alert.StartKey, event.Start, "Harbour v Valley", "The match has begun", "The match has begun"
	return m
}

// starter has the phone start Live Activities.
func starter(major int) func(*follower.FollowRow, *follower.DeviceRow) {
	return func(_ *follower.FollowRow, d *follower.DeviceRow) {
		d.PushToStart, d.OSMajor = crickettest.Token(d.UserID+" starts"), major
	}
}

func TestAlertStartsActivities(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	showing(w)
	fan(w, "new", "11", starter(18))
	fan(w, "newer", "12", starter(26))
	fan(w, "new neutral", "", starter(18))
	fan(w, "old", "11", starter(17))
	fan(w, "no token", "11")
	fan(w, "spoiler-free", "11", starter(18))
	p := follower.DefaultPreferences()
	p.SpoilerFree = true
	prefer(w, "spoiler-free", p)
	fan(w, "uninterested", "11", starter(18))
	prefer(w, "uninterested", only(event.Wicket))
	fan(w, "dead", "11", starter(17))
	w.Phones.Answer(crickettest.Token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))
	fan(w, "renewed", "11", starter(17))
	renewed := apns.Refuse(apns2.ReasonUnregistered)
	renewed.Since = w.Clock.Now().Add(-time.Second)
	w.Phones.Answer(crickettest.Token("renewed starts"), renewed)
	starts := map[string]apns.Start{}
	var mu sync.Mutex
	w.Phones.Started = func(s apns.Start) { mu.Lock(); defer mu.Unlock(); starts[s.Token] = s }

	testkit.Must(t, alerter(w, w.Env(alert.SendAlertsFunction)).SendAlert(w.Ctx(), begun(w)))
	w.To(w.Clock.Now().Add(time.Second))

	opened := map[string]string{}
	for _, c := range testkit.Rows[activity.Channel](w.World, tables.Channels) {
		opened[c.View] = c.ChannelID
	}
	for name, want := range map[string]struct {
		view    string
		listens bool
	}{"new": {"11", true}, "newer": {"12", true}, "new neutral": {match.Neutral, true}, "old": {"11", false}} {
		mu.Lock()
		s, ok := starts[crickettest.Token(name+" starts")]
		mu.Unlock()
		if !ok || s.AttributesType != tables.AttributesType || (s.Channel != "") != want.listens || want.listens && s.Channel != opened[want.view] {
			t.Errorf("%s starts %+v", name, s)
			continue
		}
		about := alert.ActivityAttributes{MatchID: "7", TeamID: strings.TrimPrefix(want.view, match.Neutral), Local: "Harbour", Visitor: "Valley"}
		if text, err := json.Marshal(about); err != nil || !bytes.Equal(text, s.Attributes) {
			t.Errorf("%s starts an activity of %s, want %s", name, s.Attributes, text)
		}
		d, _ := w.Phones.Device(s.Update)
		if got := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", want.view)); string(d.State) != string(got.Display) || d.Timestamp.Unix() != got.At {
			t.Errorf("%s is shown %s, want %s", name, d.State, got.Display)
		}
		if n := toldTo(w, name+" starts"); len(n) != 1 || toldTo(w, name) != nil {
			t.Errorf("%s is told %q with the activity and %q without", name, n, toldTo(w, name))
		}
	}
	for name, want := range map[string]int{"no token": 1, "spoiler-free": 1, "uninterested": 0, "dead": 1, "renewed": 1} {
		if _, ok := starts[crickettest.Token(name+" starts")]; ok || rung(w, name) != want {
			t.Errorf("%s starts %v, and is told %d times", name, ok, rung(w, name))
		}
	}
	for name, want := range map[string]string{"dead": "", "renewed": crickettest.Token("renewed starts")} {
		d, ok, err := follower.ReadDevice(t.Context(), w.DB(), name, w.Clock.Now())
		if err != nil || !ok || d.PushToStart != want {
			t.Errorf("the %s phone is %+v, %v", name, d, err)
		}
	}
}

// A start may come when the match is over, after a worker was killed. It begins
// nothing then, for nothing would end it.
func TestAlertStartsNothingThatIsOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*crickettest.World){
		"in the score": func(w *crickettest.World) {
			last := crickettest.Payload(testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"), "1st Innings", crickettest.Ball{ID: 1, Runs: 1})
			w.SetPayload(strings.Replace(last, "1st Innings", "Aban.", 1))
			w.TickAt(w.Ticker(), 1)
		},
		"by decision": func(w *crickettest.World) { w.Ends("7", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			showing(w)
			fan(w, "old", "11", starter(17))
			fan(w, "new", "11", starter(18))
			end(w)
			testkit.Must(t, alerter(w, w.Env(alert.SendAlertsFunction)).SendAlert(w.Ctx(), begun(w)))
			for _, name := range []string{"old", "new"} {
				if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 0 || rung(w, name) != 1 {
					t.Errorf("%d activities of %s start, and it is told %d times", d.Started, name, rung(w, name))
				}
			}
			if n := len(testkit.Rows[activity.Channel](w.World, tables.Channels)); n != 0 {
				t.Errorf("%d channels are opened", n)
			}
		})
	}
}

// TestAlertStartsWithoutChannels has activities start with tokens when channels
// cannot be opened, and a notification come when there is nothing to show.
func TestAlertStartsWithoutChannels(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "new", "11", starter(18))
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m := begun(w)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if d, _ := w.Phones.Device(crickettest.Token("new starts")); d.Started != 0 || rung(w, "new") != 1 {
		t.Errorf("with nothing to show %d activities started, and the phone rang %d times", d.Started, rung(w, "new"))
	}
	showing(w)
	fan(w, "other", "11", starter(18))
	testkit.Must(t, w.Drop(tables.Alerts, "7", alert.StartKey))
	testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()})
	w.Logs.Complaints()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for _, name := range []string{"new", "other"} {
		if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 1 {
			t.Errorf("%d activities of %s started", d.Started, name)
		}
	}
	if got := w.Logs.Complaints(); !slices.Equal(got, []string{"activities start without a channel"}) {
		t.Errorf("the log complains %q", got)
	}
}

// reminding reminds of match 7.
func reminding(w *crickettest.World) alert.Alert {
	m := begun(w)
	m.Key, m.Body = alert.ReminderKey, "Starts in 15 minutes"
	return m
}

func TestReminderClaimsEachUser(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11", starter(18))
	fan(w, "asleep", "11")
	p := follower.DefaultPreferences()
	p.QuietHours = &follower.QuietHours{From: "10:00", To: "12:00", TimeZone: "UTC"}
	prefer(w, "asleep", p)
	fan(w, "claimed", "11")
	testkit.Put(w.World, tables.Prematch, alert.Reminded{MatchID: "7", UserID: "claimed", ClaimedBy: "another", TTL: w.Clock.Now().Add(time.Hour).Unix()})
	fan(w, "mine", "11")
	testkit.Put(w.World, tables.Prematch, alert.Reminded{MatchID: "7", UserID: "mine", ClaimedBy: alert.ReminderKey, TTL: w.Clock.Now().Add(time.Hour).Unix()})
	fan(w, "busy", "11")
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.Phones.Answer(crickettest.Token("busy"), busy)
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	testkit.Must(t, a.SendAlert(w.Ctx(), reminding(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.Drop(tables.Alerts, "7", alert.ReminderKey)) // and by another job, after the match was moved
	m := reminding(w)
	m.Until = "zzz"
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for name, want := range map[string]int{"ann": 1, "asleep": 0, "claimed": 0, "mine": 1, "busy": 1} {
		if n := rung(w, name); n != want {
			t.Errorf("%s is reminded %d times, want %d", name, n, want)
		}
	}
	got := testkit.Row[alert.Reminded](w.World, tables.Prematch, "7", "ann")
	if want := (alert.Reminded{MatchID: "7", UserID: "ann", ClaimedBy: alert.ReminderKey, TTL: crickettest.KickOff.Add(-time.Hour).Add(alert.KeepReminder).Unix()}); got != want {
		t.Errorf("the claim is %+v, want %+v", got, want)
	}
	if d, _ := w.Phones.Device(crickettest.Token("ann starts")); d.Started > 0 {
		t.Error("the reminder starts an activity")
	}
}

func TestAlertsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	fan(w, "ann", "11")
	a := alerter(w, w.Env(alert.SendAlertsFunction))
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
		if err := a.SendAlert(w.Ctx(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%s: %v, want an Invalid fault", name, err)
		}
	}
	old := wicketAlert(w)
	old.At = w.Clock.Now().Add(-alert.AlertLife - time.Second).Unix()
	testkit.Must(t, a.SendAlert(w.Ctx(), old))
	reminder := reminding(w)
	w.To(crickettest.KickOff)
	testkit.Must(t, a.SendAlert(w.Ctx(), reminder))
	if got := w.Logs.Complaints(); !slices.Equal(got, []string{"an alert came too late", "an alert came too late"}) {
		t.Errorf("the log complains %q", got)
	}
	if n := rung(w, "ann"); n != 0 {
		t.Errorf("the phone rang %d times", n)
	}
}

// telling is what send-alerts amounts to, but for how often and when.
type telling struct {
	Told    map[string]string // by token
	Started []string
	Rows    []alert.AlertRow
	Devices []string
	Claims  []alert.Reminded
	Locks   int
	Left    []alert.Alert // messages
}

func tellingOf(w *crickettest.World) telling {
	w.T.Helper()
	o := telling{Told: map[string]string{}, Locks: len(testkit.Rows[map[string]any](w.World, tables.Locks)), Left: testkit.Messages[alert.Alert](w.World, tables.AlertQueue)}
	for _, token := range w.Phones.Tokens() {
		d, _ := w.Phones.Device(token)
		for _, a := range d.Alerts {
			if a.Collapse != "" {
				o.Told[token] += a.Collapse + "|" + a.Title + "|" + a.Body + ";"
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
	slices.SortFunc(o.Rows, func(a, b alert.AlertRow) int { return cmp.Compare(a.Part, b.Part) })
	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		o.Devices = append(o.Devices, d.UserID+" "+d.DeviceToken+" "+d.PushToStart)
	}
	slices.Sort(o.Devices)
	for _, c := range testkit.Rows[alert.Reminded](w.World, tables.Prematch) {
		c.TTL = 0
		o.Claims = append(o.Claims, c)
	}
	slices.SortFunc(o.Claims, func(a, b alert.Reminded) int { return cmp.Compare(a.UserID, b.UserID) })
	return o
}

// crashAlert has a message handled by the process p, then again when SQS would
// deliver it again, and then all that came of it.
func crashAlert(w *crickettest.World, p *dynamotest.Process, m alert.Alert, size alert.Portions) telling {
	w.T.Helper()
	a, again := alerter(w, w.Crashing(alert.SendAlertsFunction, p)), alerter(w, w.Env(alert.SendAlertsFunction))
	*a.Portions(), *again.Portions() = size, size
	a.SendAlert(w.Ctx(), m)
	w.To(w.Clock.Now().Add(alert.SendAlertsFunction.VisibilityTimeout()))
	testkit.Must(w.T, again.SendAlert(w.Ctx(), m))
	testkit.Drain(w.World, tables.AlertQueue, time.Hour, again.SendAlert)
	return tellingOf(w)
}

func TestAlertCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		for _, name := range []string{"alive", "busy", "dead", "spoiler-free"} {
			fan(w, name, "11")
		}
		prefers := follower.DefaultPreferences()
		prefers.SpoilerFree = true
		prefer(w, "spoiler-free", prefers)
		w.Phones.Answer(crickettest.Token("dead"), apns.Refuse(apns2.ReasonUnregistered))
		busy := apns.Refuse(apns2.ReasonServiceUnavailable)
		busy.Times = 8
		w.Phones.Answer(crickettest.Token("busy"), busy)
		o := crashAlert(w, p, rainAlert(w), alert.Portions{Message: 10, Part: 10, Page: 3})
		o.Rows = slices.DeleteFunc(o.Rows, func(r alert.AlertRow) bool { return strings.Contains(r.Part, "#") }) // whether busy needed a second message
		return o
	})
}

func TestAlertCrashesInParts(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		followers(w, 7, func(i int) string { return fmt.Sprintf("%02x", 36*i) })
		return crashAlert(w, p, wicketAlert(w), alert.Portions{Message: 3, Part: 2, Page: 2})
	})
}

func TestReminderCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		followers(w, 2, func(i int) string { return fmt.Sprint("fan ", i) })
		o := crashAlert(w, p, reminding(w), alert.Portions{Message: 10, Part: 10, Page: 10})
		for token, text := range o.Told {
			o.Told[token], _, _ = strings.Cut(text, "Starts in") // it depends on when it was told
		}
		return o
	})
}

// TestStartCrashes has nobody's activity started twice, and everybody told. Who was
// claimed before a crash gets the notification, whether or not the start came.
func TestStartCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		showing(w)
		fan(w, "new", "11", starter(18))
		fan(w, "old", "", starter(17))
		fan(w, "dead", "", starter(17))
		fan(w, "watches", "11", starter(18), watcher)
		w.Phones.Answer(crickettest.Token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))
		o := crashAlert(w, p, begun(w), alert.Portions{Message: 10, Part: 10, Page: 10})
		for _, name := range []string{"new", "old"} {
			d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
			if d.Started > 1 || d.Started == 0 && rung(w, name) == 0 {
				t.Errorf("%d activities of %s started, and the phone rang %d times", d.Started, name, rung(w, name))
			}
			delete(o.Told, crickettest.Token(name))
		}
		for i, d := range o.Devices { // who was claimed is not pushed to again: the dead token stays until the next match
			o.Devices[i] = strings.TrimSuffix(d, crickettest.Token("dead starts"))
		}
		o.Started = nil
		return o
	})
}

// watcher has an activity of the match run.
func watcher(f *follower.FollowRow, _ *follower.DeviceRow) { f.HasActivity = true }

// TestStartsOnce has each user's activity started once, whatever comes twice or
// before.
func TestStartsOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	showing(w)
	fan(w, "fan", "11", starter(18))
	fan(w, "lost", "11", starter(17)) // a start of its own: what else is on its connection is in doubt, too
	fan(w, "watches", "12", starter(18))
	w.Owns("18.0", "unfollowing")
	activities := w.Starter(w.Env(activity.StartActivityFunction))
	for _, name := range []string{"watches", "unfollowing"} {
		_, err := activities.StartActivity(w.Ctx(), crickettest.Starting("7", name, "12"))
		testkit.Must(t, err)
	}
	if _, err := activities.StartActivity(w.Ctx(), crickettest.Starting("7", "fan", "99")); err == nil {
		t.Error("an activity of a team that is away is registered")
	}
	for _, f := range testkit.Rows[follower.FollowRow](w.World, tables.Follows) {
		if f.HasActivity != (f.UserID == "watches") || f.TeamID == "" || f.UserID == "unfollowing" {
			t.Errorf("the row is %+v", f)
		}
	}
	w.Phones.Answer(crickettest.Token("lost starts"), apns.Answer{Drop: true, Times: 1})
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	m := begun(w)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.Drop(tables.Alerts, "7", alert.StartKey)) // as a crash before the record would
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for name, want := range map[string]struct{ started, told int }{"fan": {1, 1}, "lost": {1, 1}, "watches": {0, 1}} {
		d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
		if got := len(toldTo(w, name)); d.Started != want.started || got != want.told {
			t.Errorf("%d activities of %s started, and %d notifications are shown; want %+v", d.Started, name, got, want)
		}
	}
}

// TestStartIsTriedAgain has an activity that Apple was too busy for start later.
func TestStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	showing(w)
	fan(w, "fan", "11", starter(18))
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all tries of one run
	w.Phones.Answer(crickettest.Token("fan starts"), busy)
	a := alerter(w, w.Env(alert.SendAlertsFunction))
	testkit.Must(t, a.SendAlert(w.Ctx(), begun(w)))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != 1 || rung(w, "fan") != 0 {
		t.Errorf("%d activities started, and the phone rang %d times", d.Started, rung(w, "fan"))
	}
}

// TestNothingStartsOfAMatchThatIsOver has no activity start that nothing would end.
func TestNothingStartsOfAMatchThatIsOver(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "while the channel is opened"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			showing(w)
			fan(w, "new", "11", starter(18))
			fan(w, "old", "12", starter(17))
			a := alerter(w, w.Env(alert.SendAlertsFunction))
			if when == "before" {
				w.Ends("7", 9)
			} else {
				a.Channels().Sender = func(context.Context) (*push.Sender, error) { w.Ends("7", 9); return *a.Sender(), nil }
			}
			testkit.Must(t, a.SendAlert(w.Ctx(), begun(w)))
			for _, name := range []string{"new", "old"} {
				if d, _ := w.Phones.Device(crickettest.Token(name + " starts")); d.Started != 0 || rung(w, name) != 1 {
					t.Errorf("%d activities of %s started, and the phone rang %d times", d.Started, name, rung(w, name))
				}
			}
			if n := len(testkit.Rows[activity.Channel](w.World, tables.Channels)); when == "before" && n != 0 {
				t.Errorf("%d channels are opened", n)
			}
		})
	}
}

// TestStartOfTeamsToBeConfirmed has two teams with one id be one perspective.
func TestStartOfTeamsToBeConfirmed(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	showing(w)
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.VisitorTeamID = f.LocalTeamID
	testkit.Put(w.World, tables.Fixtures, f)
	fan(w, "fan", "11", starter(18))
	testkit.Must(t, alerter(w, w.Env(alert.SendAlertsFunction)).SendAlert(w.Ctx(), begun(w)))
	if d, _ := w.Phones.Device(crickettest.Token("fan starts")); d.Started != 1 || len(toldTo(w, "fan")) != 0 {
		t.Errorf("%d activities started, and %q is shown", d.Started, toldTo(w, "fan"))
	}
}

// TestAlertRunIsBounded has a run that takes too long leave the rest to another,
// which goes on there.
func TestAlertRunIsBounded(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	names := followers(w, 6, func(i int) string { return fmt.Sprint(i) })
	a, again := alerter(w, w.Env(alert.SendAlertsFunction)), alerter(w, w.Env(alert.SendAlertsFunction))
	a.Portions().Page, again.Portions().Page = 2, 2
	m := wicketAlert(w)
	*a.Now() = func() time.Time {
		if after(w, m) == "3" {
			return w.Clock.Now().Add(alert.RunTime + time.Second)
		}
		return w.Clock.Now()
	}
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(m) || after(w, m) != "3" {
		t.Errorf("after %q the messages are %+v", after(w, m), got)
	}
	if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, again.SendAlert); n != 1 {
		t.Errorf("%d messages told the rest", n)
	}
	onceEach(w, names)
}
