package notice_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	simfcm "matchday/infra/sim/fcm"
	"matchday/infra/testkit"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// androidOf returns the FCM token of a phone by its name.
func androidOf(name string) string {
	return "dQw4w9WgXcQ:APA91b-" + name + "_" + pickemtest.TokenOf(name)[:40]
}

// registerAndroid registers an Android phone for a user, on which the app is installed.
func registerAndroid(w *pickemtest.Room, google *simfcm.Server, name, user string) {
	w.T.Helper()

	google.Install(androidOf(name))

	if out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", user,
		map[string]string{"deviceToken": androidOf(name), "platform": "android", "locale": "en-IN"}); out.StatusCode != http.StatusCreated {
		w.T.Fatalf("%s registers the phone %s: %d %s", user, name, out.StatusCode, out.Body)
	}
}

// shownOn returns how often the notification of a notice arrived on Android phones, by name.
func shownOn(google *simfcm.Server, names ...string) map[string]int {
	all := map[string]int{}

	for _, name := range names {
		p, _ := google.Phone(androidOf(name))
		for _, n := range p.Notifications {
			if n.Title == "Clash" && n.Body == "Pick!" {
				all[name] += n.Times
			}
		}
	}

	return all
}

// androids returns the names of the Android phones that are registered.
func androids(w *pickemtest.Room, names ...string) (all []string) {
	w.T.Helper()

	rows := testkit.Rows[device.Device](w.World, tables.Pickem)
	for _, name := range names {
		if slices.ContainsFunc(rows, func(d device.Device) bool { return d.Token == androidOf(name) && d.Kind == push.FCM }) {
			all = append(all, name)
		}
	}

	return all
}

// TestAndroidPhonesAreRegistered as iPhones are, by a token that keeps its case.
func TestAndroidPhonesAreRegistered(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	google := w.WithFCM()
	w.AddMembers("ann")
	registerAndroid(w, google, "Moto", "ann")
	registerAndroid(w, google, "moto", "ann")

	if got := androids(w, "Moto", "moto"); !slices.Equal(got, []string{"Moto", "moto"}) {
		t.Errorf("registered are %q", got)
	}

	out := w.Ask(notice.DeleteDeviceFunction(), "/app/devices/"+string(push.Registration(androidOf("Moto")).ID()), "ann", "")
	if got := androids(w, "Moto", "moto"); out.StatusCode != http.StatusNoContent || !slices.Equal(got, []string{"moto"}) {
		t.Errorf("%d %s: registered are %q", out.StatusCode, out.Body, got)
	}

	for name, body := range map[string]map[string]string{
		"a token of an iPhone":       {"deviceToken": pickemtest.TokenOf("red"), "platform": "android"},
		"a token of an Android":      {"deviceToken": androidOf("moto"), "platform": "ios"},
		"without a platform":         {"deviceToken": androidOf("moto")},
		"of no phone":                {"deviceToken": "a token with spaces in it", "platform": "android"},
		"too long":                   {"deviceToken": strings.Repeat("x", 513), "platform": "android"},
		"a short one":                {"deviceToken": "x", "platform": "android"},
		"a token that is a document": {"deviceToken": `{"token":"aaaaaaaaaaaaaaaaaaaaaaa"}`, "platform": "android"},
	} {
		if err := testkit.CheckProblemField(w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann", body), 422, "body.deviceToken"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStageWithoutAndroid: a stage without a Firebase project refuses Android phones with a clear answer, and
// keeps those that it has registered before, without a notification.
func TestStageWithoutAndroid(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")

	out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann",
		map[string]string{"deviceToken": androidOf("moto"), "platform": "android"})
	if err := testkit.CheckProblemCode(out, http.StatusUnprocessableEntity, "android_not_configured"); err != nil {
		t.Error(err)
	}

	if got := androids(w, "moto"); got != nil {
		t.Errorf("registered are %q", got)
	}

	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), noticeTo("ann")))

	if got := notificationsOn(phones, "red"); !slices.Equal(got, []string{"red: Clash, Pick!"}) {
		t.Errorf("%q", got)
	}
}

// TestAndroidPhonesGetNotices: by Google's answers, who has the notice, who is recorded, and which phones stay
// registered after a first and a second run. An iPhone does not wait for Google.
func TestAndroidPhonesGetNotices(t *testing.T) {
	t.Parallel()

	all := []string{"droid", "moto"}

	for name, c := range map[string]struct {
		fault func(*simfcm.Server)
		first []string // recorded by the first run
		err   string
		kept  []string
		want  map[string]int // arrivals, after both runs
	}{
		"no fault": {func(*simfcm.Server) {}, []string{"ann", "bob"}, "", all, map[string]int{"droid": 1, "moto": 1}},
		"the app was removed": {
			func(g *simfcm.Server) { g.Remove(androidOf("moto")) }, []string{"ann"}, "", []string{"droid"}, map[string]int{"droid": 1},
		},
		"a token of another project": {
			func(g *simfcm.Server) { g.Foreign(androidOf("droid")) }, []string{"ann", "bob"}, "", []string{"moto"}, map[string]int{"moto": 1},
		},
		"Google is unavailable": {
			func(g *simfcm.Server) {
				g.Answer(androidOf("moto"), simfcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: 1})
			}, []string{"ann"}, "members_not_reached", all, map[string]int{"droid": 1, "moto": 1},
		},
		"the quota is used up": {
			func(g *simfcm.Server) {
				g.Answer(androidOf("moto"), simfcm.Answer{Status: 429, Code: "QUOTA_EXCEEDED", Times: 1})
			}, []string{"ann"}, "google_unavailable", all, map[string]int{"droid": 1, "moto": 1},
		},
		"an answer is lost": {
			func(g *simfcm.Server) {
				g.Answer(androidOf("moto"), simfcm.Answer{Drop: true, Applied: true, Times: 1})
			}, []string{"ann", "bob"}, "", all, map[string]int{"droid": 1, "moto": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			apple, google := w.WithAPNs(), w.WithFCM()
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			registerAndroid(w, google, "droid", "ann")
			registerAndroid(w, google, "moto", "bob")
			c.fault(google)

			s, n := testkit.OpenWith(w.World, w.Env(notice.SendNoticesFunction()), notice.OpenNotifier), noticeTo("ann", "bob")

			err := s.SendNotices(w.NewContext(), n)
			if e, _ := errors.AsType[*problem.Error](err); (err == nil) != (c.err == "") || e != nil && e.Code != c.err {
				t.Errorf("the first run returned %v, want %q", err, c.err)
			}

			if got := notifiedMembers(w, n.ID); !slices.Equal(got, c.first) {
				t.Errorf("members notified (-want +got):\n%s", cmp.Diff(c.first, got))
			}

			w.MoveClock(w.Clock.Now().Add(time.Minute)) // the queue's next delivery is later
			testkit.Must(t, s.SendNotices(w.NewContext(), n))

			if got := shownOn(google, all...); !cmp.Equal(got, c.want) {
				t.Errorf("arrivals (-want +got):\n%s", cmp.Diff(c.want, got))
			}

			if got := androids(w, all...); !slices.Equal(got, c.kept) {
				t.Errorf("registered (-want +got):\n%s", cmp.Diff(c.kept, got))
			}

			if got := notificationsOn(apple, "red"); !slices.Equal(got, []string{"red: Clash, Pick!"}) || arrivals(apple, "red") != 1 {
				t.Errorf("the iPhone has %q", got)
			}
		})
	}
}

// TestAndroidPhonesDoNotWaitForApple: while Apple cannot be reached, Android phones get the notice.
func TestAndroidPhonesDoNotWaitForApple(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	apple, google := w.WithAPNs(), w.WithFCM()
	w.AddMembers("ann", "bob")
	w.RegisterPhone("red", "ann")
	registerAndroid(w, google, "moto", "bob")

	s, n := testkit.OpenWith(w.World, w.Env(notice.SendNoticesFunction()), notice.OpenNotifier), noticeTo("ann", "bob")
	s.SetPatience(time.Second)
	testkit.Must(t, apple.Close())

	if err := s.SendNotices(w.NewContext(), n); err == nil {
		t.Error("Apple cannot be reached, and the run has no error")
	}

	if got := notifiedMembers(w, n.ID); !slices.Equal(got, []string{"bob"}) || shownOn(google, "moto")["moto"] != 1 {
		t.Errorf("notified are %q, want bob", got)
	}
}

// TestNoKeyDelaysNoIPhone: without a key of Google, iPhones get the notice, and Android phones when the secret has it.
func TestNoKeyDelaysNoIPhone(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	apple, google := w.WithAPNs(), w.WithFCM()
	w.AddMembers("ann", "bob")
	w.RegisterPhone("red", "ann")
	registerAndroid(w, google, "moto", "bob")

	key := w.Settings[fcm.Key]
	delete(w.Settings, fcm.Key)

	s, n := testkit.OpenWith(w.World, w.Env(notice.SendNoticesFunction()), notice.OpenNotifier), noticeTo("ann", "bob")

	err := s.SendNotices(w.NewContext(), n)
	if e, _ := errors.AsType[*problem.Error](err); e == nil || e.Code != "google_unavailable" {
		t.Errorf("got %v, want google_unavailable", err)
	}

	if got := notifiedMembers(w, n.ID); !slices.Equal(got, []string{"ann"}) || arrivals(apple, "red") != 1 {
		t.Errorf("notified are %q, want ann", got)
	}

	w.Settings[fcm.Key] = key
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, s.SendNotices(w.NewContext(), n))

	if shownOn(google, "moto")["moto"] != 1 || arrivals(apple, "red") != 1 {
		t.Errorf("with the key the Android phone shows %v", shownOn(google, "moto"))
	}
}
