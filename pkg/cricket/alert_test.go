package cricket

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

	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// alerter opens send-alerts, with less patience for Apple.
func (w *world) alerter(env app.Env) *Alerter {
	w.T.Helper()
	return newAlerter(env, w.sender(env))
}

// fan has a user follow match 7 as a fan of the team, on a phone of the user's
// name, after the edits.
func (w *world) fan(name, team string, edits ...func(*following, *device)) {
	w.T.Helper()
	now := w.Clock.Now()
	f := following{follow{"7", name}, team, now.UnixMilli(), now.Add(96 * time.Hour).Unix(), false}
	d := device{
		UserID: name, DeviceToken: token(name), Platform: "ios", OSMajor: 18, Environment: "production",
		UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
	}
	for _, edit := range edits {
		edit(&f, &d)
	}
	testkit.Put(w.World, follows, f)
	testkit.Put(w.World, devices, d)
}

func (w *world) prefer(name string, p Preferences) {
	w.T.Helper()
	testkit.Put(w.World, preferenceTable, preferences{UserID: name, Preferences: p, UpdatedAt: 1})
}

// wicket tells of a wicket at this moment.
func (w *world) wicket() Alert {
	return Alert{
		MatchID: "7", Key: "S1:W1", Kind: score.WicketEvent, Match: "Harbour v Valley",
		Title: "Wicket! Harbour 7/1 (1.2)", Body: "A Batter b A Bowler 3 (5)", At: w.Clock.Now().Unix(),
	}
}

// rain tells the spoiler-free as well.
func (w *world) rain() Alert {
	m := w.wicket()
	m.Key, m.Kind, m.Title, m.Body, m.Plain = "rain:1", score.RainEvent, "Rain: Harbour 7/1", "Harbour 7/1 (1.2)", "Play has stopped"
	return m
}

// told is what a phone was told: title and body of each notification.
func (w *world) told(name string) (all []string) {
	d, _ := w.phones.Device(token(name))
	for _, a := range d.Alerts {
		all = append(all, a.Title+"|"+a.Body)
	}
	return all
}

// rung is how often a phone rang.
func (w *world) rung(name string) (n int) {
	d, _ := w.phones.Device(token(name))
	for _, a := range d.Alerts {
		n += a.Times
	}
	return n
}

// alerting is a world with match 7 and phones.
func alerting(t *testing.T) *world {
	w := newWorld(t).withPhones()
	w.scripted("7")
	return w
}

// only are the preferences of one who wants alerts of these kinds.
func only(kinds ...score.EventKind) Preferences { return Preferences{Alerts: kinds} }

func TestAlertsAsUsersPrefer(t *testing.T) {
	t.Parallel()
	w := alerting(t) // at 11:00 UTC
	quiet := func(from, to, zone string) Preferences {
		p := defaults()
		p.QuietHours = &QuietHours{from, to, zone}
		return p
	}
	keyOnly, spoilerFree := defaults(), defaults()
	keyOnly.KeyEventsOnly, spoilerFree.SpoilerFree = true, true
	const wicket, rain = "Wicket! Harbour 7/1 (1.2)|A Batter b A Bowler 3 (5)", "Rain: Harbour 7/1|Harbour 7/1 (1.2)"
	for name, c := range map[string]struct {
		prefers Preferences
		want    []string
	}{
		"everything":                             {defaults(), []string{wicket, rain}},
		"nothing":                                {only(), nil},
		"wickets alone":                          {only(score.WicketEvent), []string{wicket}},
		"key events":                             {keyOnly, nil},
		"spoiler-free":                           {spoilerFree, []string{"Harbour v Valley|Play has stopped"}},
		"quiet over midnight, asleep":            {quiet("22:00", "07:00", "America/Los_Angeles"), nil},
		"quiet over midnight, awake":             {quiet("22:00", "07:00", "Asia/Kolkata"), []string{wicket, rain}},
		"quiet over midnight, before it":         {quiet("22:00", "07:00", "Pacific/Auckland"), nil},
		"quiet in the afternoon":                 {quiet("16:00", "17:00", "Asia/Kolkata"), nil},
		"quiet until it is sent, not when it is": {quiet("10:30", "11:06", "UTC"), []string{wicket, rain}},
	} {
		w.fan(name, "11")
		w.prefer(name, c.prefers)
		defer func() {
			if got := w.told(name); !slices.Equal(got, c.want) {
				t.Errorf("who prefers %s is told %q, want %q", name, got, c.want)
			}
		}()
	}
	w.fan("unstated", "")
	a := w.alerter(w.Env(SendAlertsFunction))
	m, n := w.wicket(), w.rain()
	w.To(w.Clock.Now().Add(6 * time.Minute))
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	testkit.Must(t, a.SendAlert(w.Ctx(), n))
	n.Key, n.Plain = "rain:2", "" // nothing that could be said without the score
	w.prefer("everything", only())
	w.prefer("unstated", only())
	testkit.Must(t, w.Drop(follows, "7", "quiet over midnight, awake"))
	testkit.Must(t, w.Drop(follows, "7", "quiet until it is sent, not when it is"))
	testkit.Must(t, a.SendAlert(w.Ctx(), n))
	if got := w.told("unstated"); !slices.Equal(got, []string{wicket, rain}) {
		t.Errorf("who stated no preferences is told %q", got)
	}
	if d, s := w.Logs.Sum(alertsDelivered), w.Logs.Sum(alertsSuppressed); d != 10 || s != 21 {
		t.Errorf("%v alerts were delivered and %v suppressed", d, s)
	}
}

func TestAlertNotification(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	a := w.alerter(w.Env(SendAlertsFunction))
	m := w.wicket()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	m.Key = strings.Repeat("long", 40)
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	d, _ := w.phones.Device(token("ann"))
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
	w.fan("ann", "11")
	w.fan("unfollowed", "11", func(f *following, _ *device) { f.ExpiresAt = now.Unix() })
	w.fan("phone expired", "11", func(_ *following, d *device) { d.ExpiresAt = now.Unix() })
	w.fan("another match", "11", func(f *following, _ *device) { f.MatchID = "8" })
	w.fan("tester", "11", func(_ *following, d *device) { d.Environment = "sandbox" })
	testkit.Put(w.World, follows, following{follow{"7", "no phone"}, "", 1, now.Add(time.Hour).Unix(), false})
	a := w.alerter(w.Env(SendAlertsFunction))
	a.environment = "production"
	testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
	if got := w.phones.Tokens(); !slices.Equal(got, []string{token("ann")}) {
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
		w.fan(name, "11")
	}
	w.phones.Answer(token("unregistered"), apns.Refuse(apns2.ReasonUnregistered))
	w.phones.Answer(token("bad"), apns.Refuse(apns2.ReasonBadDeviceToken))
	w.phones.Answer(token("meanwhile"), apns.Refuse(apns2.ReasonUnregistered))
	before := apns.Refuse(apns2.ReasonUnregistered)
	before.Since = w.Clock.Now().Add(-time.Minute)
	w.phones.Answer(token("again"), before)
	env := w.Env(SendAlertsFunction)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteItem") { // Apple has answered
			w.fan("meanwhile", "11", func(_ *following, d *device) { d.UpdatedAt++ })
		}
		return next.Do(r)
	})
	testkit.Must(t, w.alerter(env).SendAlert(w.Ctx(), w.wicket()))
	var left []string
	for _, d := range testkit.Rows[device](w.World, devices) {
		left = append(left, d.UserID)
	}
	slices.Sort(left)
	if want := []string{"again", "alive", "meanwhile"}; !slices.Equal(left, want) {
		t.Errorf("the phones of %q are left, want %q", left, want)
	}
	if gone := w.Logs.Sum(alertsGone); gone != 4 {
		t.Errorf("%v phones were gone", gone)
	}
}

func TestAlertIsToldOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	a := w.alerter(w.Env(SendAlertsFunction))
	m := w.wicket()
	for range 3 { // delivered again, and sent again later
		testkit.Must(t, a.SendAlert(w.Ctx(), m))
		m.At++
		w.fan("zoe", "11") // too late for this one
	}
	if n := w.rung("ann"); n != 1 || w.rung("zoe") != 0 {
		t.Errorf("the phone rang %d times, and that of a later follower %d times", n, w.rung("zoe"))
	}
	m.Key = "S1:W2"
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if n := w.rung("ann"); n != 2 {
		t.Errorf("with the next wicket the phone rang %d times", n)
	}
	r := testkit.Row[alertRow](w.World, alertTable, "7", "S1:W1")
	if want := (alertRow{MatchID: "7", Part: "S1:W1", After: "ann", Done: true, TTL: w.Clock.Now().Add(keepAlerts).Unix()}); fmt.Sprint(r) != fmt.Sprint(want) {
		t.Errorf("the row is %+v, want %+v", r, want)
	}
	if left := testkit.Rows[map[string]any](w.World, locks); len(left) > 0 {
		t.Errorf("the leases %v are left", left)
	}
}

func TestAlertDeliveredTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	for i := range 20 {
		w.fan(fmt.Sprint("fan ", i), "11")
	}
	m := w.wicket()
	workers := []*Alerter{w.alerter(w.Env(SendAlertsFunction)), w.alerter(w.Env(SendAlertsFunction))}
	var wg sync.WaitGroup
	for _, a := range workers {
		wg.Go(func() {
			if err := a.SendAlert(w.Ctx(), m); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	testkit.Drain(w.World, alertQueue, time.Hour, workers[0].SendAlert)
	for i := range 20 {
		if n := w.rung(fmt.Sprint("fan ", i)); n != 1 {
			t.Errorf("phone %d rang %d times", i, n)
		}
	}
}

// TestAlertInAnothersHands has a message wait as long as another worker has it,
// without its handling failing.
func TestAlertInAnothersHands(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	m := w.wicket()
	a, other := w.alerter(w.Env(SendAlertsFunction)), w.alerter(w.Env(SendAlertsFunction))
	lease, err := other.locks.Take(w.Ctx(), "alert:7:"+m.part(), "other")
	testkit.Must(t, err)
	for n := 1; n <= alertQueue.MaxReceiveCount+1; n++ {
		testkit.Must(t, a.SendAlert(w.Ctx(), m))
		if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != n || got[n-1].Try != 0 || w.rung("ann") != 0 {
			t.Fatalf("the messages are %+v, and the phone rang %d times", got, w.rung("ann"))
		}
		w.To(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, lease.Extend(w.Ctx()))
	}
	testkit.Must(t, lease.Release(w.Ctx()))
	testkit.Drain(w.World, alertQueue, time.Hour, a.SendAlert)
	if n := w.rung("ann"); n != 1 {
		t.Errorf("the phone rang %d times", n)
	}
}

// TestAlertLosesItsLease has a worker that stalled leave the rest of the
// followers to the one that took over. At most the page it stalled in is told
// twice.
func TestAlertLosesItsLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook  func(a *Alerter, now func() time.Time)
		calls int // of the hook, at the last of which it stalls
		twice []string
	}{
		"before a page": {func(a *Alerter, now func() time.Time) { a.locks.Now = now }, 1, nil},
		"in a page":     {func(a *Alerter, now func() time.Time) { a.now = now }, 2, []string{"2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			for i := range 6 {
				w.fan(fmt.Sprint(i), "11")
			}
			m := w.wicket()
			slow, quick := w.alerter(w.Env(SendAlertsFunction)), w.alerter(w.Env(SendAlertsFunction))
			slow.portions.page, quick.portions.page = 2, 2
			stalled, calls := false, 0
			c.hook(slow, func() time.Time {
				if w.after(m) == "1" {
					calls++
				}
				if !stalled && calls == c.calls {
					stalled = true
					w.To(w.Clock.Now().Add(alertLease + time.Second))
					testkit.Must(t, quick.SendAlert(w.Ctx(), m))
				}
				return w.Clock.Now()
			})
			testkit.Must(t, slow.SendAlert(w.Ctx(), m))
			if n := testkit.Drain(w.World, alertQueue, time.Hour, quick.SendAlert); n != 1 || !stalled {
				t.Errorf("the worker stalled %v, and left %d messages", stalled, n)
			}
			for i := range 6 {
				name, want := fmt.Sprint(i), 1
				if slices.Contains(c.twice, name) {
					want = 2
				}
				if n := w.rung(name); n != want || len(w.told(name)) != 1 {
					t.Errorf("phone %s rang %d times, and shows %q", name, n, w.told(name))
				}
			}
		})
	}
}

// after is the last follower who is done with.
func (w *world) after(m Alert) string {
	w.T.Helper()
	r, _, err := dynamo.Get[alertRow](w.T.Context(), w.DB(), getAlert, m.MatchID, m.part())
	testkit.Must(w.T, err)
	return r.After
}

// TestAlertManyFollowers has 2,500 followers told once each, by more than one
// message.
func TestAlertManyFollowers(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	const n = 2500
	names := w.followers(n, func(i int) string {
		h := token(fmt.Sprint("user ", i))
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + h[16:20] + "-" + h[20:32]
	})
	a := w.alerter(w.Env(SendAlertsFunction))
	m := w.wicket()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 {
		t.Errorf("%d messages are for the rest of %d followers", len(got), n)
	}
	if d := w.Logs.Sum(alertsDelivered); d != 2000 {
		t.Errorf("one message told %v followers", d)
	}
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	w.onceEach(names)
}

// followers stores n followers of match 7 and their phones.
func (w *world) followers(n int, name func(i int) string) (names []string) {
	w.T.Helper()
	now := w.Clock.Now()
	var fs []following
	var ds []device
	for i := range n {
		user := name(i)
		names = append(names, user)
		fs = append(fs, following{follow{"7", user}, "", now.UnixMilli(), now.Add(96 * time.Hour).Unix(), false})
		ds = append(ds, device{UserID: user, DeviceToken: token(user), OSMajor: 18, UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(time.Hour).Unix()})
	}
	testkit.Put(w.World, follows, fs...)
	testkit.Put(w.World, devices, ds...)
	return names
}

func (w *world) onceEach(names []string) {
	w.T.Helper()
	for _, name := range names {
		if n := w.rung(name); n != 1 {
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
		"most at a end": func(i int) string { return token(fmt.Sprint(i))[:8] + strings.Repeat("f", i%3) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			names := w.followers(47, name)
			a := w.alerter(w.Env(SendAlertsFunction))
			a.portions = portions{message: 5, part: 4, page: 2}
			testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
			if n := testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert); n < 9 {
				t.Errorf("%d messages told 42 followers", n)
			}
			w.onceEach(names)
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
				w.fan(name, "11")
			}
			busy := apns.Refuse(reason)
			busy.Times = 3*8 - 1 // all tries of two runs, and those of a third but one
			w.phones.Answer(token("bob"), busy)
			w.phones.Answer(token("cy"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			w.phones.Answer(token("dan"), apns.Answer{Status: busy.Status, Reason: busy.Reason, Times: 8})
			a := w.alerter(w.Env(SendAlertsFunction))
			m := w.wicket()
			testkit.Must(t, a.SendAlert(w.Ctx(), m))
			again := testkit.Messages[Alert](w.World, alertQueue)
			if len(again) != 1 || !slices.Equal(again[0].Users, []string{"bob", "cy", "dan"}) || again[0].Try != 1 {
				t.Fatalf("the messages are %+v", again)
			}
			w.prefer("dan", only()) // thinks better of it meanwhile
			testkit.Must(t, a.SendAlert(w.Ctx(), m))
			began := w.Clock.Now()
			if n := testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert); n != 2 {
				t.Errorf("%d messages tried again", n)
			}
			if took := w.Clock.Now().Sub(began); took != 30*time.Second {
				t.Errorf("they took %v", took)
			}
			for name, want := range map[string]int{"ann": 1, "bob": 1, "cy": 1, "dan": 0} {
				if n := w.rung(name); n != want {
					t.Errorf("%s's phone rang %d times, want %d", name, n, want)
				}
			}
			if got := w.Logs.Sum(alertsRetried); got != 4 {
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
		w.fan(name, "11")
	}
	w.phones.Answer(token("ann"), busy)
	w.phones.Answer(token("dan"), busy)
	a := w.alerter(w.Env(SendAlertsFunction))
	a.portions.page = 2
	testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	w.onceEach(names)
}

func TestAlertGivesUpAfterAnHour(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	w.phones.Answer(token("ann"), apns.Refuse(apns2.ReasonServiceUnavailable))
	a := w.alerter(w.Env(SendAlertsFunction))
	began := w.Clock.Now()
	testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
	if n := testkit.Drain(w.World, alertQueue, 2*time.Hour, a.SendAlert); n != maxAlertTries {
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
	w.fan("ann", "11")
	a := w.alerter(w.Env(SendAlertsFunction))
	testkit.Must(t, w.phones.Close())
	testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 || got[0].Try != 1 || got[0].part() != "S1:W1" {
		t.Errorf("the messages are %+v", got)
	}
	w.Logs.Complaints()
}

// TestAlertLeavesTheSlowBehind has a phone that Apple does not answer for keep
// nobody else waiting.
func TestAlertLeavesTheSlowBehind(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	w.fan("slow", "11")
	w.phones.Answer(token("slow"), apns.Answer{Slow: 24 * time.Hour, Times: 1})
	a := w.alerter(w.Env(SendAlertsFunction))
	a.patience = 100 * time.Millisecond
	testkit.Must(t, a.SendAlert(w.Ctx(), w.wicket()))
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 || !slices.Contains(got[0].Users, "slow") {
		t.Fatalf("the messages are %+v", got)
	}
	a.patience = time.Minute
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	for _, name := range []string{"ann", "slow"} {
		if got := w.told(name); len(got) != 1 {
			t.Errorf("%s is told %q", name, got)
		}
	}
}

// showing stores what each perspective is shown of match 7, and its teams.
func (w *world) showing() {
	w.T.Helper()
	f := testkit.Row[fixture](w.World, fixtures, "7")
	w.says(saidOf(f, "1st Innings", ballSaid{id: 1, runs: 1}))
	w.tickAt(w.ticker(), 0)
	testkit.Drain(w.World, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
}

// begun tells that match 7 has begun.
func (w *world) begun() Alert {
	m := w.wicket()
	m.Key, m.Kind, m.Title, m.Body, m.Plain = startKey, score.StartEvent, "Harbour v Valley", "The match has begun", "The match has begun"
	return m
}

// starter has the phone start Live Activities.
func starter(major int) func(*following, *device) {
	return func(_ *following, d *device) { d.PushToStart, d.OSMajor = token(d.UserID+" starts"), major }
}

func TestAlertStartsActivities(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.showing()
	w.fan("new", "11", starter(18))
	w.fan("newer", "12", starter(26))
	w.fan("new neutral", "", starter(18))
	w.fan("old", "11", starter(17))
	w.fan("no token", "11")
	w.fan("spoiler-free", "11", starter(18))
	p := defaults()
	p.SpoilerFree = true
	w.prefer("spoiler-free", p)
	w.fan("uninterested", "11", starter(18))
	w.prefer("uninterested", only(score.WicketEvent))
	w.fan("dead", "11", starter(17))
	w.phones.Answer(token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))
	w.fan("renewed", "11", starter(17))
	renewed := apns.Refuse(apns2.ReasonUnregistered)
	renewed.Since = w.Clock.Now().Add(-time.Second)
	w.phones.Answer(token("renewed starts"), renewed)
	starts := map[string]apns.Start{}
	var mu sync.Mutex
	w.phones.Started = func(s apns.Start) { mu.Lock(); defer mu.Unlock(); starts[s.Token] = s }

	testkit.Must(t, w.alerter(w.Env(SendAlertsFunction)).SendAlert(w.Ctx(), w.begun()))
	w.To(w.Clock.Now().Add(time.Second))

	opened := map[string]string{}
	for _, c := range testkit.Rows[channel](w.World, channelTable) {
		opened[c.View] = c.ChannelID
	}
	for name, want := range map[string]struct {
		view    string
		listens bool
	}{"new": {"11", true}, "newer": {"12", true}, "new neutral": {neutral, true}, "old": {"11", false}} {
		mu.Lock()
		s, ok := starts[token(name+" starts")]
		mu.Unlock()
		if !ok || s.AttributesType != attributesType || (s.Channel != "") != want.listens || want.listens && s.Channel != opened[want.view] {
			t.Errorf("%s starts %+v", name, s)
			continue
		}
		about := activityAttributes{MatchID: "7", TeamID: strings.TrimPrefix(want.view, neutral), Local: "Harbour", Visitor: "Valley"}
		if text, err := json.Marshal(about); err != nil || !bytes.Equal(text, s.Attributes) {
			t.Errorf("%s starts an activity of %s, want %s", name, s.Attributes, text)
		}
		d, _ := w.phones.Device(s.Update)
		if got := testkit.Row[shown](w.World, displays, displayKey("7", want.view)); string(d.State) != string(got.Display) || d.Timestamp.Unix() != got.At {
			t.Errorf("%s is shown %s, want %s", name, d.State, got.Display)
		}
		if n := w.told(name + " starts"); len(n) != 1 || w.told(name) != nil {
			t.Errorf("%s is told %q with the activity and %q without", name, n, w.told(name))
		}
	}
	for name, want := range map[string]int{"no token": 1, "spoiler-free": 1, "uninterested": 0, "dead": 1, "renewed": 1} {
		if _, ok := starts[token(name+" starts")]; ok || w.rung(name) != want {
			t.Errorf("%s starts %v, and is told %d times", name, ok, w.rung(name))
		}
	}
	for name, want := range map[string]string{"dead": "", "renewed": token("renewed starts")} {
		d, ok, err := readDevice(t.Context(), w.DB(), name, w.Clock.Now())
		if err != nil || !ok || d.PushToStart != want {
			t.Errorf("the %s phone is %+v, %v", name, d, err)
		}
	}
}

// A start may come when the match is over, after a worker was killed. It begins
// nothing then, for nothing would end it.
func TestAlertStartsNothingThatIsOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world){
		"in the score": func(w *world) {
			last := saidOf(testkit.Row[fixture](w.World, fixtures, "7"), "1st Innings", ballSaid{id: 1, runs: 1})
			w.says(strings.Replace(last, "1st Innings", "Aban.", 1))
			w.tickAt(w.ticker(), 1)
		},
		"by decision": func(w *world) { w.ends("7", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			w.showing()
			w.fan("old", "11", starter(17))
			w.fan("new", "11", starter(18))
			end(w)
			testkit.Must(t, w.alerter(w.Env(SendAlertsFunction)).SendAlert(w.Ctx(), w.begun()))
			for _, name := range []string{"old", "new"} {
				if d, _ := w.phones.Device(token(name + " starts")); d.Started != 0 || w.rung(name) != 1 {
					t.Errorf("%d activities of %s start, and it is told %d times", d.Started, name, w.rung(name))
				}
			}
			if n := len(testkit.Rows[channel](w.World, channelTable)); n != 0 {
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
	w.fan("new", "11", starter(18))
	a := w.alerter(w.Env(SendAlertsFunction))
	m := w.begun()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if d, _ := w.phones.Device(token("new starts")); d.Started != 0 || w.rung("new") != 1 {
		t.Errorf("with nothing to show %d activities started, and the phone rang %d times", d.Started, w.rung("new"))
	}
	w.showing()
	w.fan("other", "11", starter(18))
	testkit.Must(t, w.Drop(alertTable, "7", startKey))
	testkit.Put(w.World, channelTable, channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()})
	w.Logs.Complaints()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for _, name := range []string{"new", "other"} {
		if d, _ := w.phones.Device(token(name + " starts")); d.Started != 1 {
			t.Errorf("%d activities of %s started", d.Started, name)
		}
	}
	if got := w.Logs.Complaints(); !slices.Equal(got, []string{"activities start without a channel"}) {
		t.Errorf("the log complains %q", got)
	}
}

// reminding reminds of match 7.
func (w *world) reminding() Alert {
	m := w.begun()
	m.Key, m.Body = reminderKey, "Starts in 15 minutes"
	return m
}

func TestReminderClaimsEachUser(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11", starter(18))
	w.fan("asleep", "11")
	p := defaults()
	p.QuietHours = &QuietHours{"10:00", "12:00", "UTC"}
	w.prefer("asleep", p)
	w.fan("claimed", "11")
	testkit.Put(w.World, prematch, reminded{"7", "claimed", "another", w.Clock.Now().Add(time.Hour).Unix()})
	w.fan("mine", "11")
	testkit.Put(w.World, prematch, reminded{"7", "mine", reminderKey, w.Clock.Now().Add(time.Hour).Unix()})
	w.fan("busy", "11")
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8
	w.phones.Answer(token("busy"), busy)
	a := w.alerter(w.Env(SendAlertsFunction))
	testkit.Must(t, a.SendAlert(w.Ctx(), w.reminding()))
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.Drop(alertTable, "7", reminderKey)) // and by another job, after the match was moved
	m := w.reminding()
	m.Until = "zzz"
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for name, want := range map[string]int{"ann": 1, "asleep": 0, "claimed": 0, "mine": 1, "busy": 1} {
		if n := w.rung(name); n != want {
			t.Errorf("%s is reminded %d times, want %d", name, n, want)
		}
	}
	got := testkit.Row[reminded](w.World, prematch, "7", "ann")
	if want := (reminded{"7", "ann", reminderKey, kickOff.Add(-time.Hour).Add(keepReminder).Unix()}); got != want {
		t.Errorf("the claim is %+v, want %+v", got, want)
	}
	if d, _ := w.phones.Device(token("ann starts")); d.Started > 0 {
		t.Error("the reminder starts an activity")
	}
}

func TestAlertsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.fan("ann", "11")
	a := w.alerter(w.Env(SendAlertsFunction))
	for name, edit := range map[string]func(*Alert){
		"a bad match":         func(m *Alert) { m.MatchID = "7/../8" },
		"no match":            func(m *Alert) { m.MatchID = "" },
		"an unknown match":    func(m *Alert) { m.MatchID = "8" },
		"no key":              func(m *Alert) { m.Key = "" },
		"an endless key":      func(m *Alert) { m.Key = strings.Repeat("k", maxKey+1) },
		"no kind":             func(m *Alert) { m.Kind = "" },
		"an unknown kind":     func(m *Alert) { m.Kind = "boundary" },
		"no title":            func(m *Alert) { m.Title = "" },
		"a text beyond Apple": func(m *Alert) { m.Body = strings.Repeat("x", push.MaxPayload) },
	} {
		m := w.wicket()
		edit(&m)
		if err := a.SendAlert(w.Ctx(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%s: %v, want an Invalid fault", name, err)
		}
	}
	old := w.wicket()
	old.At = w.Clock.Now().Add(-alertLife - time.Second).Unix()
	testkit.Must(t, a.SendAlert(w.Ctx(), old))
	reminder := w.reminding()
	w.To(kickOff)
	testkit.Must(t, a.SendAlert(w.Ctx(), reminder))
	if got := w.Logs.Complaints(); !slices.Equal(got, []string{"an alert came too late", "an alert came too late"}) {
		t.Errorf("the log complains %q", got)
	}
	if n := w.rung("ann"); n != 0 {
		t.Errorf("the phone rang %d times", n)
	}
}

// telling is what send-alerts amounts to, but for how often and when.
type telling struct {
	Told    map[string]string // by token
	Started []string
	Rows    []alertRow
	Devices []string
	Claims  []reminded
	Locks   int
	Left    []Alert // messages
}

func (w *world) telling() telling {
	w.T.Helper()
	o := telling{Told: map[string]string{}, Locks: len(testkit.Rows[map[string]any](w.World, locks)), Left: testkit.Messages[Alert](w.World, alertQueue)}
	for _, token := range w.phones.Tokens() {
		d, _ := w.phones.Device(token)
		for _, a := range d.Alerts {
			if a.Collapse != "" {
				o.Told[token] += a.Collapse + "|" + a.Title + "|" + a.Body + ";"
			}
		}
		if d.Started > 0 {
			o.Started = append(o.Started, fmt.Sprint(token, " times ", d.Started))
		}
	}
	for _, r := range testkit.Rows[alertRow](w.World, alertTable) {
		r.TTL = 0
		o.Rows = append(o.Rows, r)
	}
	slices.SortFunc(o.Rows, func(a, b alertRow) int { return cmp.Compare(a.Part, b.Part) })
	for _, d := range testkit.Rows[device](w.World, devices) {
		o.Devices = append(o.Devices, d.UserID+" "+d.DeviceToken+" "+d.PushToStart)
	}
	slices.Sort(o.Devices)
	for _, c := range testkit.Rows[reminded](w.World, prematch) {
		c.TTL = 0
		o.Claims = append(o.Claims, c)
	}
	slices.SortFunc(o.Claims, func(a, b reminded) int { return cmp.Compare(a.UserID, b.UserID) })
	return o
}

// crashAlert has a message handled by the process p, then again when SQS would
// deliver it again, and then all that came of it.
func (w *world) crashAlert(p *dynamotest.Process, m Alert, size portions) telling {
	w.T.Helper()
	a, again := w.alerter(w.Crashing(SendAlertsFunction, p)), w.alerter(w.Env(SendAlertsFunction))
	a.portions, again.portions = size, size
	a.SendAlert(w.Ctx(), m)
	w.To(w.Clock.Now().Add(SendAlertsFunction.VisibilityTimeout()))
	testkit.Must(w.T, again.SendAlert(w.Ctx(), m))
	testkit.Drain(w.World, alertQueue, time.Hour, again.SendAlert)
	return w.telling()
}

func TestAlertCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		for _, name := range []string{"alive", "busy", "dead", "spoiler-free"} {
			w.fan(name, "11")
		}
		prefers := defaults()
		prefers.SpoilerFree = true
		w.prefer("spoiler-free", prefers)
		w.phones.Answer(token("dead"), apns.Refuse(apns2.ReasonUnregistered))
		busy := apns.Refuse(apns2.ReasonServiceUnavailable)
		busy.Times = 8
		w.phones.Answer(token("busy"), busy)
		o := w.crashAlert(p, w.rain(), portions{10, 10, 3})
		o.Rows = slices.DeleteFunc(o.Rows, func(r alertRow) bool { return strings.Contains(r.Part, "#") }) // whether busy needed a second message
		return o
	})
}

func TestAlertCrashesInParts(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		w.followers(7, func(i int) string { return fmt.Sprintf("%02x", 36*i) })
		return w.crashAlert(p, w.wicket(), portions{3, 2, 2})
	})
}

func TestReminderCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		w.followers(2, func(i int) string { return fmt.Sprint("fan ", i) })
		o := w.crashAlert(p, w.reminding(), portions{10, 10, 10})
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
		w.showing()
		w.fan("new", "11", starter(18))
		w.fan("old", "", starter(17))
		w.fan("dead", "", starter(17))
		w.fan("watches", "11", starter(18), watcher)
		w.phones.Answer(token("dead starts"), apns.Refuse(apns2.ReasonUnregistered))
		o := w.crashAlert(p, w.begun(), portions{10, 10, 10})
		for _, name := range []string{"new", "old"} {
			d, _ := w.phones.Device(token(name + " starts"))
			if d.Started > 1 || d.Started == 0 && w.rung(name) == 0 {
				t.Errorf("%d activities of %s started, and the phone rang %d times", d.Started, name, w.rung(name))
			}
			delete(o.Told, token(name))
		}
		for i, d := range o.Devices { // who was claimed is not pushed to again: the dead token stays until the next match
			o.Devices[i] = strings.TrimSuffix(d, token("dead starts"))
		}
		o.Started = nil
		return o
	})
}

// watcher has an activity of the match run.
func watcher(f *following, _ *device) { f.HasActivity = true }

// TestStartsOnce has each user's activity started once, whatever comes twice or
// before.
func TestStartsOnce(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.showing()
	w.fan("fan", "11", starter(18))
	w.fan("lost", "11", starter(17)) // a start of its own: what else is on its connection is in doubt, too
	w.fan("watches", "12", starter(18))
	w.owns("18.0", "unfollowing")
	activities := w.starter(w.Env(StartActivityFunction))
	for _, name := range []string{"watches", "unfollowing"} {
		_, err := activities.StartActivity(w.Ctx(), starting("7", name, "12"))
		testkit.Must(t, err)
	}
	if _, err := activities.StartActivity(w.Ctx(), starting("7", "fan", "99")); err == nil {
		t.Error("an activity of a team that is away is registered")
	}
	for _, f := range testkit.Rows[following](w.World, follows) {
		if f.HasActivity != (f.UserID == "watches") || f.TeamID == "" || f.UserID == "unfollowing" {
			t.Errorf("the row is %+v", f)
		}
	}
	w.phones.Answer(token("lost starts"), apns.Answer{Drop: true, Times: 1})
	a := w.alerter(w.Env(SendAlertsFunction))
	m := w.begun()
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	testkit.Must(t, w.Drop(alertTable, "7", startKey)) // as a crash before the record would
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	for name, want := range map[string]struct{ started, told int }{"fan": {1, 1}, "lost": {1, 1}, "watches": {0, 1}} {
		d, _ := w.phones.Device(token(name + " starts"))
		if got := len(w.told(name)); d.Started != want.started || got != want.told {
			t.Errorf("%d activities of %s started, and %d notifications are shown; want %+v", d.Started, name, got, want)
		}
	}
}

// TestStartIsTriedAgain has an activity that Apple was too busy for start later.
func TestStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.showing()
	w.fan("fan", "11", starter(18))
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all tries of one run
	w.phones.Answer(token("fan starts"), busy)
	a := w.alerter(w.Env(SendAlertsFunction))
	testkit.Must(t, a.SendAlert(w.Ctx(), w.begun()))
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	if d, _ := w.phones.Device(token("fan starts")); d.Started != 1 || w.rung("fan") != 0 {
		t.Errorf("%d activities started, and the phone rang %d times", d.Started, w.rung("fan"))
	}
}

// TestNothingStartsOfAMatchThatIsOver has no activity start that nothing would end.
func TestNothingStartsOfAMatchThatIsOver(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "while the channel is opened"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := alerting(t)
			w.showing()
			w.fan("new", "11", starter(18))
			w.fan("old", "12", starter(17))
			a := w.alerter(w.Env(SendAlertsFunction))
			if when == "before" {
				w.ends("7", 9)
			} else {
				a.channels.sender = func(context.Context) (*push.Sender, error) { w.ends("7", 9); return a.sender, nil }
			}
			testkit.Must(t, a.SendAlert(w.Ctx(), w.begun()))
			for _, name := range []string{"new", "old"} {
				if d, _ := w.phones.Device(token(name + " starts")); d.Started != 0 || w.rung(name) != 1 {
					t.Errorf("%d activities of %s started, and the phone rang %d times", d.Started, name, w.rung(name))
				}
			}
			if n := len(testkit.Rows[channel](w.World, channelTable)); when == "before" && n != 0 {
				t.Errorf("%d channels are opened", n)
			}
		})
	}
}

// TestStartOfTeamsToBeConfirmed has two teams with one id be one perspective.
func TestStartOfTeamsToBeConfirmed(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.showing()
	f := testkit.Row[fixture](w.World, fixtures, "7")
	f.VisitorTeamID = f.LocalTeamID
	testkit.Put(w.World, fixtures, f)
	w.fan("fan", "11", starter(18))
	testkit.Must(t, w.alerter(w.Env(SendAlertsFunction)).SendAlert(w.Ctx(), w.begun()))
	if d, _ := w.phones.Device(token("fan starts")); d.Started != 1 || len(w.told("fan")) != 0 {
		t.Errorf("%d activities started, and %q is shown", d.Started, w.told("fan"))
	}
}

// TestAlertRunIsBounded has a run that takes too long leave the rest to another,
// which goes on there.
func TestAlertRunIsBounded(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	names := w.followers(6, func(i int) string { return fmt.Sprint(i) })
	a, again := w.alerter(w.Env(SendAlertsFunction)), w.alerter(w.Env(SendAlertsFunction))
	a.portions.page, again.portions.page = 2, 2
	m := w.wicket()
	a.now = func() time.Time {
		if w.after(m) == "3" {
			return w.Clock.Now().Add(runTime + time.Second)
		}
		return w.Clock.Now()
	}
	testkit.Must(t, a.SendAlert(w.Ctx(), m))
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(m) || w.after(m) != "3" {
		t.Errorf("after %q the messages are %+v", w.after(m), got)
	}
	if n := testkit.Drain(w.World, alertQueue, time.Minute, again.SendAlert); n != 1 {
		t.Errorf("%d messages told the rest", n)
	}
	w.onceEach(names)
}
