package alert_test

import (
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/apns"
	simfcm "matchday/infra/sim/fcm"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// android makes the phone of a follower an Android phone, on which the app is installed.
func android(g *simfcm.Server) func(*follower.FollowRow, *follower.DeviceRow) {
	return func(f *follower.FollowRow, d *follower.DeviceRow) {
		d.DeviceToken, d.OSMajor = crickettest.AndroidToken(f.UserID), 16
		d.Phone = push.Phone{Platform: push.Android, Kind: push.FCM, Locale: d.Locale, Catalogue: d.Catalogue}
		g.Install(d.DeviceToken)
	}
}

// worldWithBoth returns a world with match 7, an iPhone of ann, and Android phones of the others.
func worldWithBoth(t *testing.T, others ...string) (*crickettest.World, *simfcm.Server) {
	t.Helper()

	w := worldWithFollowedMatch(t)
	g := w.WithFCM()
	addFollower(w, "ann", "11")

	for _, name := range others {
		addFollower(w, name, "", android(g))
	}

	return w, g
}

// shown returns the notifications of Android phones with the number of arrivals, by name of the phone.
func shown(g *simfcm.Server, names ...string) map[string]map[string]int {
	all := map[string]map[string]int{}

	for _, name := range names {
		p, _ := g.Phone(crickettest.AndroidToken(name))
		for _, n := range p.Notifications {
			if all[name] == nil {
				all[name] = map[string]int{}
			}

			all[name][n.Title+n.TitleLocKey+"|"+n.Body+n.BodyLocKey] = n.Times
		}
	}

	return all
}

// registered returns the names of those whose Android phones are registered.
func registered(w *crickettest.World, names ...string) (all []string) {
	rows := testkit.Rows[follower.DeviceRow](w.World, tables.Devices)
	for _, name := range names {
		if slices.ContainsFunc(rows, func(d follower.DeviceRow) bool { return d.DeviceToken == crickettest.AndroidToken(name) }) {
			all = append(all, name)
		}
	}

	return all
}

// TestAndroidPhonesGetAlerts: with the preferences, languages and texts of iPhones, in their channel, once.
func TestAndroidPhonesGetAlerts(t *testing.T) {
	t.Parallel()
	w, g := worldWithBoth(t, "bob", "calm", "asleep", "newer")
	addFollower(w, "hindi", "", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.Locale = "hi-IN" }, android(g))
	addFollower(w, "newer", "", func(_ *follower.FollowRow, d *follower.DeviceRow) { d.Catalogue = 1000 }, android(g))

	prefers := follower.DefaultPreferences()
	prefers.SpoilerFree = true
	setPreferences(w, "calm", prefers)

	prefers = follower.DefaultPreferences()
	prefers.QuietHours = &follower.QuietHours{From: "00:00", To: "23:59", TimeZone: "UTC"}
	setPreferences(w, "asleep", prefers)

	m := rainAlert(w)
	m.Says = &event.Says{
		Match: event.MatchWords("Harbour", "Valley"), Title: words.Say("Play stopped"), Body: words.Verbatim("Harbour 7/1 (1.2)"),
		Plain: words.Say("Play has stopped."),
	}

	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	for range 2 { // the second run sends nothing
		testkit.Must(t, a.SendAlert(w.NewContext(), m))
	}

	names := []string{"bob", "calm", "asleep", "hindi", "newer"}
	want := map[string]map[string]int{
		"bob":   {"Rain: Harbour 7/1|Harbour 7/1 (1.2)": 1},
		"calm":  {"Harbour v Valley|Play has stopped": 1},
		"hindi": {words.Say("Play stopped").In("hi") + "|Harbour 7/1 (1.2)": 1},
		"newer": {"alert_play_stopped|Harbour 7/1 (1.2)": 1},
	}

	if diff := cmp.Diff(want, shown(g, names...)); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}

	if ringCount(w, "ann") != 1 {
		t.Errorf("the iPhone rang %d times", ringCount(w, "ann"))
	}

	p, _ := g.Phone(crickettest.AndroidToken("bob"))
	if n := p.Notifications[0]; n.ChannelID != "alerts" || n.Tag != m.CollapseID() || n.Data["matchId"] != "7" || n.Data["kind"] != "rain" {
		t.Errorf("bob has %+v", n)
	}
}

// TestGooglesFaultsDelayNoIPhone: by Google's answers, who has the alert after the first run and after the
// retries, and which phones stay registered. The iPhone has it at once, and once.
func TestGooglesFaultsDelayNoIPhone(t *testing.T) {
	t.Parallel()

	all := []string{"bob", "cat"}
	token := crickettest.AndroidToken

	for name, c := range map[string]struct {
		fault       func(*simfcm.Server)
		first, last map[string]int // arrivals
		kept        []string
		failed      bool // counted as a failure of Google
	}{
		"none": {func(*simfcm.Server) {}, map[string]int{"bob": 1, "cat": 1}, map[string]int{"bob": 1, "cat": 1}, all, false},
		"removed": {
			func(g *simfcm.Server) { g.Remove(token("bob")) }, map[string]int{"cat": 1}, map[string]int{"cat": 1}, []string{"cat"}, false,
		},
		"foreign": {
			func(g *simfcm.Server) { g.Foreign(token("bob")) }, map[string]int{"cat": 1}, map[string]int{"cat": 1}, []string{"cat"}, false,
		},
		"an iPhone's": {
			func(g *simfcm.Server) { g.Apple(token("bob")) }, map[string]int{"cat": 1}, map[string]int{"cat": 1}, []string{"cat"}, false,
		},
		"busy for one": {
			func(g *simfcm.Server) {
				g.Answer(token("bob"), simfcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: 1})
			},
			map[string]int{"cat": 1}, map[string]int{"bob": 1, "cat": 1}, all, false,
		},
		"busy for all": {
			func(g *simfcm.Server) { g.Answer("", simfcm.Answer{Status: 500, Code: "INTERNAL", Times: 2}) },
			map[string]int{}, map[string]int{"bob": 1, "cat": 1}, all, true,
		},
		"beyond the quota": {
			func(g *simfcm.Server) { g.Answer("", simfcm.Answer{Status: 429, Code: "QUOTA_EXCEEDED", Times: 2}) },
			map[string]int{}, map[string]int{"bob": 1, "cat": 1}, all, true,
		},
		"a lost answer": {
			func(g *simfcm.Server) { g.Answer(token("bob"), simfcm.Answer{Drop: true, Applied: true, Times: 1}) },
			map[string]int{"bob": 2, "cat": 1}, map[string]int{"bob": 2, "cat": 1}, all, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, g := worldWithBoth(t, all...)
			c.fault(g)

			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

			arrivals := func() map[string]int {
				sum := map[string]int{}
				for name, texts := range shown(g, all...) {
					for _, n := range texts {
						sum[name] += n
					}
				}

				return sum
			}

			if diff := cmp.Diff(c.first, arrivals()); diff != "" || ringCount(w, "ann") != 1 {
				t.Errorf("the iPhone rang %d times; arrivals after the first run (-want +got):\n%s", ringCount(w, "ann"), diff)
			}

			testkit.Drain(w.World, tables.AlertQueue, 10*time.Minute, a.SendAlert)

			if diff := cmp.Diff(c.last, arrivals()); diff != "" || ringCount(w, "ann") != 1 {
				t.Errorf("the iPhone rang %d times; arrivals after the retries (-want +got):\n%s", ringCount(w, "ann"), diff)
			}

			if got := registered(w, all...); !slices.Equal(got, c.kept) {
				t.Errorf("registered are %q, want %q", got, c.kept)
			}

			failed := slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool { return l.Attrs[tables.GoogleFailures.Name] != nil })
			if failed != c.failed {
				t.Errorf("a failure of Google was counted: %v, want %v", failed, c.failed)
			}
		})
	}
}

// TestApplesFaultsDelayNoAndroidPhone: while Apple cannot be reached, or refuses everything, Android phones get the
// alert at once. The iPhone gets it when Apple is back, and nobody twice.
func TestApplesFaultsDelayNoAndroidPhone(t *testing.T) {
	t.Parallel()

	for name, disturb := range map[string]func(*testing.T, *crickettest.World, *alert.Alerter) (mend func()){
		"it cannot be reached": func(t *testing.T, w *crickettest.World, a *alert.Alerter) func() {
			closed, whole := w.Sender(w.Env(alert.SendAlertsFunction()), func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" }), *a.Sender()
			*a.Sender() = closed

			return func() { *a.Sender() = whole }
		},
		"it refuses the bundle": func(t *testing.T, w *crickettest.World, a *alert.Alerter) func() {
			refusal := apns.Refuse(apns2.ReasonTopicDisallowed)
			refusal.Times = 1
			w.Phones.Answer(crickettest.Token("ann"), refusal)

			return func() {}
		},
		"it is busy": func(t *testing.T, w *crickettest.World, a *alert.Alerter) func() {
			busy := apns.Refuse(apns2.ReasonServiceUnavailable)
			busy.Times = 8 // all attempts of one run
			w.Phones.Answer(crickettest.Token("ann"), busy)

			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, g := worldWithBoth(t, "bob")
			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			mend := disturb(t, w, a)

			testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

			want := map[string]map[string]int{"bob": {"Wicket! Harbour 7/1 (1.2)|A Batter b A Bowler 3 (5)": 1}}
			if diff := cmp.Diff(want, shown(g, "bob")); diff != "" || ringCount(w, "ann") != 0 {
				t.Errorf("the iPhone rang %d times; notifications (-want +got):\n%s", ringCount(w, "ann"), diff)
			}

			mend()
			testkit.Drain(w.World, tables.AlertQueue, 10*time.Minute, a.SendAlert)

			if diff := cmp.Diff(want, shown(g, "bob")); diff != "" || ringCount(w, "ann") != 1 {
				t.Errorf("after the retries the iPhone rang %d times; notifications (-want +got):\n%s", ringCount(w, "ann"), diff)
			}
		})
	}
}

// TestRefusedServiceIsLeft: a service that refuses everything is not asked again for the next pages.
func TestRefusedServiceIsLeft(t *testing.T) {
	t.Parallel()
	w, g := worldWithBoth(t, "bob", "cat", "dan", "eve")
	g.Answer("", simfcm.Answer{Status: http.StatusForbidden})

	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	*a.Sizes() = alert.BatchSizes{Message: 10, Part: 10, Page: 2}
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if n := g.Counts()["PERMISSION_DENIED"]; n != 1 || ringCount(w, "ann") != 1 {
		t.Errorf("Google was asked %d times, and the iPhone rang %d times", n, ringCount(w, "ann"))
	}

	var users []string
	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		if m.Service != push.FCM {
			t.Errorf("a retry is for %q", m.Service)
		}

		users = append(users, m.Users...)
	}

	slices.Sort(users)

	if want := []string{"bob", "cat", "dan", "eve"}; !slices.Equal(users, want) {
		t.Errorf("retried are %q, want %q", users, want)
	}

	refused, ok := errors.AsType[*fcm.Refused](a.SendAlert(w.NewContext(), testkit.Messages[alert.Alert](w.World, tables.AlertQueue)[0]))
	if !ok || refused.Status != http.StatusForbidden {
		t.Errorf("the retry, which is Google's alone, returns %v", refused)
	}
}

// TestNoKeyDelaysNoIPhone: without a key of Google, iPhones get the alert at once, and Android phones when the secret
// has it.
func TestNoKeyDelaysNoIPhone(t *testing.T) {
	t.Parallel()
	w, g := worldWithBoth(t, "bob")
	key := w.Settings[fcm.Key]
	delete(w.Settings, fcm.Key)

	a := testkit.Open(w.World, alert.SendAlertsFunction(), alert.OpenAlerter)
	testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))

	if got := shown(g, "bob"); len(got) != 0 || ringCount(w, "ann") != 1 {
		t.Errorf("%v; the iPhone rang %d times", got, ringCount(w, "ann"))
	}

	if !slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool { return l.Attrs[tables.GoogleFailures.Name] != nil }) {
		t.Error("no failure of Google was counted")
	}

	w.Settings[fcm.Key] = key
	testkit.Drain(w.World, tables.AlertQueue, 10*time.Minute, a.SendAlert)

	if got := shown(g, "bob"); len(got) != 1 || ringCount(w, "ann") != 1 {
		t.Errorf("with the key: %v; the iPhone rang %d times", got, ringCount(w, "ann"))
	}
}

// TestRetriesOfEarlierVersions, which name no service, reach both kinds of phones.
func TestRetriesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	w, g := worldWithBoth(t, "bob", "cat")

	m := wicketAlert(w)
	m.Users, m.Try, m.Until = []string{"ann", "bob"}, 1, "z"
	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), m))

	if got := slices.Collect(maps.Keys(shown(g, "bob", "cat"))); !slices.Equal(got, []string{"bob"}) || ringCount(w, "ann") != 1 {
		t.Errorf("Android phones that rang: %q; the iPhone rang %d times", got, ringCount(w, "ann"))
	}
}

// TestStageWithoutAndroidPhones: their rows, which another stage's app may have written, get nothing.
func TestStageWithoutAndroidPhones(t *testing.T) {
	t.Parallel()
	w, g := worldWithBoth(t, "bob")
	delete(w.Settings, fcm.SettingProject)

	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), wicketAlert(w)))

	if got := shown(g, "bob"); len(got) != 0 || ringCount(w, "ann") != 1 || len(testkit.Messages[alert.Alert](w.World, tables.AlertQueue)) != 0 {
		t.Errorf("%v; the iPhone rang %d times", got, ringCount(w, "ann"))
	}
}

// TestAndroidAlertsAreCompletedAfterACrash: whatever call is the last one, each phone shows the alert once, and the
// unregistered phone is removed.
func TestAndroidAlertsAreCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string][]string {
		w, g := worldWithBoth(t, "bob", "busy", "gone")
		g.Remove(crickettest.AndroidToken("gone"))
		g.Answer(crickettest.AndroidToken("busy"), simfcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: 1})

		fn := alert.SendAlertsFunction()
		if p.Ended(openAlerter(w, w.CrashingEnv(fn, p)).SendAlert(w.NewContext(), wicketAlert(w))) {
			w.MoveClock(w.Clock.Now().Add(fn.VisibilityTimeout()))
			testkit.Must(t, openAlerter(w, w.Env(fn)).SendAlert(w.NewContext(), wicketAlert(w)))
		}

		testkit.Drain(w.World, tables.AlertQueue, time.Hour, openAlerter(w, w.Env(fn)).SendAlert)

		all := map[string][]string{"registered": registered(w, "bob", "busy", "gone"), "ann": alertsOf(w, "ann")}
		for name, texts := range shown(g, "bob", "busy", "gone") {
			all[name] = slices.Collect(maps.Keys(texts))
		}

		return all
	})
}

// TestNamesOfAndroidStrings: each key of the catalogue has a name of its own that Android accepts.
func TestNamesOfAndroidStrings(t *testing.T) {
	t.Parallel()

	valid, keys := regexp.MustCompile(`^[a-z][a-z0-9_]*$`), map[string]string{}

	for _, key := range words.Keys() {
		name := fcm.Resource(alert.ForAndroid(push.Alert{Banner: push.Banner{TitleKey: &push.Key{Key: key}}}).TitleKey.Key)
		if !valid.MatchString(name) || keys[name] != "" {
			t.Errorf("%q is named %s, as %q", key, name, keys[name])
		}

		keys[name] = key
	}
}
