package notice_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
)

// notifier opens send-notices with one connection and a short backoff.
func notifier(w *pickemtest.Room, env app.Env) *notice.Notifier {
	w.T.Helper()
	n := testkit.OpenWith(w.World, env, notice.OpenNotifier)
	c, err := push.ConfigOf(w.T.Context(), env, notice.APNSKey, notice.APNSBundle)
	testkit.Must(w.T, err)

	c.Connections, c.Backoff = 1, time.Microsecond
	sender, err := push.Open(c)
	testkit.Must(w.T, err)
	n.SetApple(sender)
	w.T.Cleanup(sender.Close)

	return n
}

// notificationsOn returns the notifications on phones by name: "red: Title, Body".
func notificationsOn(phones *apns.Server, names ...string) (all []string) {
	for _, name := range names {
		d, _ := phones.Device(pickemtest.TokenOf(name))
		for _, a := range d.Alerts {
			all = append(all, fmt.Sprintf("%s: %s, %s", name, a.Title, a.Body))
		}
	}

	return all
}

// arrivals returns the largest number of arrivals of one notification on these phones.
func arrivals(phones *apns.Server, names ...string) (most int) {
	for _, name := range names {
		d, _ := phones.Device(pickemtest.TokenOf(name))
		for _, a := range d.Alerts {
			most = max(most, a.Times)
		}
	}

	return most
}

// notifiedMembers returns the members with a delivery of a notice.
func notifiedMembers(w *pickemtest.Room, id string) (all []string) {
	w.T.Helper()

	for _, r := range testkit.Rows[notice.Delivery](w.World, tables.Pickem) {
		if r.SK == notice.NoticeRef(id) {
			all = append(all, strings.TrimPrefix(r.PK, "USER#"))
		}
	}

	slices.Sort(all)

	return all
}

func noticeTo(users ...string) notice.Notice {
	return notice.Notice{
		ID:      "show#day",
		Title:   "Clash",
		Body:    "Pick!",
		EventID: pickemtest.Show,
		Until:   pickemtest.Noon.Add(time.Hour),
		UserIDs: users,
	}
}

// TestNoticeReachesEachMemberOnce: on all phones of the member, and not after its time.
func TestNoticeReachesEachMemberOnce(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann", "bob", "cat")
	w.RegisterPhone("red", "ann")
	w.RegisterPhone("blue", "ann")
	w.RegisterPhone("green", "bob")

	n, s := noticeTo("ann", "bob", "cat", "stranger"), notifier(w, w.Env(notice.SendNoticesFunction()))
	for range 2 {
		testkit.Must(t, s.SendNotices(w.NewContext(), n))

		want := []string{"red: Clash, Pick!", "blue: Clash, Pick!", "green: Clash, Pick!"}
		if got := notificationsOn(phones, "red", "blue", "green"); !slices.Equal(got, want) {
			t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
		}
	}

	if got, want := notifiedMembers(w, n.ID), []string{"ann", "bob"}; !slices.Equal(got, want) {
		t.Errorf("members notified (-want +got):\n%s", cmp.Diff(want, got))
	}

	delivery := testkit.Row[notice.Delivery](w.World, tables.Pickem, item.UserRef("ann"), notice.NoticeRef(n.ID))
	if want := n.Until.Add(notice.KeepNotices).Unix(); delivery.TTL != want {
		t.Errorf("the delivery has ttl %d, want %d", delivery.TTL, want)
	}

	// A member who registers a phone later gets the notice then.
	w.RegisterPhone("black", "cat")
	testkit.Must(t, s.SendNotices(w.NewContext(), n))

	if got, want := notificationsOn(phones, "red", "black"), []string{"red: Clash, Pick!", "black: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}

	d, _ := phones.Device(pickemtest.TokenOf("red"))

	var payload struct{ EventID string }
	testkit.Must(t, json.Unmarshal(d.Alerts[0].Payload, &payload))

	if payload.EventID != pickemtest.Show || d.Alerts[0].Collapse != n.ID || d.Alerts[0].Sound != "default" {
		t.Errorf("the notification is %+v with the event %q, want the notice's", d.Alerts[0], payload.EventID)
	}

	late := n
	late.ID = "show#hours"

	w.MoveClock(n.Until)
	testkit.Must(t, s.SendNotices(w.NewContext(), late))

	if n := arrivals(phones, "red", "blue", "green", "black"); n != 1 {
		t.Errorf("a notification arrived %d times, want once", n)
	}

	if got := notifiedMembers(w, late.ID); len(got) != 0 || len(notificationsOn(phones, "green")) != 1 {
		t.Errorf("deliveries after until: %q, want none", got)
	}

	if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"notice expired before it was sent"}) {
		t.Errorf("warnings %q, want the expiry of the notice", got)
	}
}

// TestAllPhonesGetNotices: a member has at most MaxDevices.
func TestAllPhonesGetNotices(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann")

	var names []string
	for i := range device.MaxDevices.Max {
		names = append(names, fmt.Sprint("phone ", i))
		w.RegisterPhone(names[i], "ann")
		w.MoveClock(w.Clock.Now().Add(time.Second))
	}

	w.RegisterPhone(names[0], "ann") // registered again
	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), noticeTo("ann")))

	var want []string
	for _, name := range names {
		want = append(want, name+": Clash, Pick!")
	}

	if got := notificationsOn(phones, names...); !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestInvalidNoticesAreRejected: nobody is notified.
func TestInvalidNoticesAreRejected(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.WithAPNs()
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	s := notifier(w, w.Env(notice.SendNoticesFunction()))

	for name, change := range map[string]func(*notice.Notice){
		"no id":            func(n *notice.Notice) { n.ID = "" },
		"no title":         func(n *notice.Notice) { n.Title = "" },
		"no body":          func(n *notice.Notice) { n.Body = "" },
		"no time":          func(n *notice.Notice) { n.Until = time.Time{} },
		"no members":       func(n *notice.Notice) { n.UserIDs = nil },
		"too many members": func(n *notice.Notice) { n.UserIDs = slices.Repeat([]string{"ann"}, notice.MaxUsers+1) },
		"too long":         func(n *notice.Notice) { n.Body = strings.Repeat("x", push.MaxPayload) },
	} {
		n := noticeTo("ann")
		change(&n)

		if err := s.SendNotices(w.NewContext(), n); problem.Of(err) != problem.Invalid {
			t.Errorf("%s: %v, want an Invalid problem", name, err)
		}
	}

	if got := notifiedMembers(w, "show#day"); len(got) != 0 {
		t.Errorf("deliveries %q, want none", got)
	}
}

// TestLongNoticeIDsStayDistinct: the collapse id of a long id is a hash of it.
func TestLongNoticeIDsStayDistinct(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	s := notifier(w, w.Env(notice.SendNoticesFunction()))

	for _, last := range []string{"a", "b", "b"} {
		n := noticeTo("ann")
		n.ID = strings.Repeat("x", 64) + last
		testkit.Must(t, s.SendNotices(w.NewContext(), n))
	}

	d, _ := phones.Device(pickemtest.TokenOf("red"))
	if len(d.Alerts) != 2 || len(d.Alerts[0].Collapse) != 64 || d.Alerts[0].Collapse == d.Alerts[1].Collapse {
		t.Errorf("notifications %+v, want one for each id", d.Alerts)
	}
}

// TestSecondRunNotifiesUnreachedMembers: and nobody twice, whatever Apple answers to the first.
func TestSecondRunNotifiesUnreachedMembers(t *testing.T) {
	t.Parallel()

	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all attempts of one run
	lost := apns.Answer{Drop: true, Times: 8}
	forbidden := apns.Refuse(apns2.ReasonForbidden)
	forbidden.Times = 1

	for _, c := range []struct {
		name  string
		fault func(*pickemtest.Room, *apns.Server)
		first []string // recorded by the first run
		err   bool
		kept  []string // phones that stay registered
		again bool     // an unanswered notification may arrive again and replace the first
	}{
		{"no fault", func(*pickemtest.Room, *apns.Server) {}, []string{"ann", "bob"}, false,
			[]string{"red of ann", "blue of ann", "green of bob"}, false},
		{"busy for all phones of a member", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), busy) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"busy for one phone of a member", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("blue"), busy) },
			[]string{"ann", "bob"}, false, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"no answer", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), lost) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, true},
		{"credentials refused", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), forbidden) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"token invalid", func(_ *pickemtest.Room, p *apns.Server) {
			p.Answer(pickemtest.TokenOf("blue"), apns.Refuse(apns2.ReasonUnregistered))
		},
			[]string{"ann", "bob"}, false, []string{"red of ann", "green of bob"}, false},
		{"all tokens of a member invalid", func(_ *pickemtest.Room, p *apns.Server) {
			p.Answer(pickemtest.TokenOf("green"), apns.Refuse(apns2.ReasonBadDeviceToken))
		},
			[]string{"ann"}, false, []string{"red of ann", "blue of ann"}, false},
		{"token invalid before the registration", func(_ *pickemtest.Room, p *apns.Server) {
			refusal := apns.Refuse(apns2.ReasonUnregistered)
			refusal.Since = pickemtest.Noon.Add(-time.Hour)
			p.Answer(pickemtest.TokenOf("blue"), refusal)
		}, []string{"ann", "bob"}, false, []string{"red of ann", "blue of ann", "green of bob"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			phones := w.WithAPNs()
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			w.RegisterPhone("blue", "ann")
			w.RegisterPhone("green", "bob")
			c.fault(w, phones)
			s := notifier(w, w.Env(notice.SendNoticesFunction()))

			n := noticeTo("ann", "bob")
			if err := s.SendNotices(w.NewContext(), n); (err != nil) != c.err {
				t.Errorf("the first run returned %v, want an error: %v", err, c.err)
			}

			if got := notifiedMembers(w, n.ID); !slices.Equal(got, c.first) {
				t.Errorf("members notified (-want +got):\n%s", cmp.Diff(c.first, got))
			}

			testkit.Must(t, s.SendNotices(w.NewContext(), n))

			var want []string // whose phones are registered

			for _, phone := range c.kept {
				_, user, _ := strings.Cut(phone, " of ")
				want = append(want, user)
			}

			want = slices.Compact(want)
			if got := notifiedMembers(w, n.ID); !slices.Equal(got, want) {
				t.Errorf("members notified after a second run (-want +got):\n%s", cmp.Diff(want, got))
			}

			for _, name := range []string{"red", "blue", "green"} {
				if n := len(notificationsOn(phones, name)); n > 1 || arrivals(phones, name) > 1 && !c.again {
					t.Errorf("the phone %s has %d notifications, which arrived %d times; want one and once", name, n, arrivals(phones, name))
				}
			}

			if got := w.RegisteredPhones("red", "blue", "green"); !slices.Equal(got, c.kept) {
				t.Errorf("registered phones (-want +got):\n%s", cmp.Diff(c.kept, got))
			}
		})
	}
}

// TestNobodyIsRecordedWhileAppleIsUnreachable: so that the next run notifies all.
func TestNobodyIsRecordedWhileAppleIsUnreachable(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")

	n := noticeTo("ann")
	url := w.Settings[push.SettingURL]
	w.Settings[push.SettingURL] = "https://127.0.0.1:1"

	err := notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), n)
	if problem.Of(err) != problem.Unavailable || len(notifiedMembers(w, n.ID)) != 0 {
		t.Errorf("without Apple: %v with the deliveries %q, want Unavailable and none", err, notifiedMembers(w, n.ID))
	}

	w.Settings[push.SettingURL] = url

	// Apple accepts the connection and does not answer.
	phones.Answer(pickemtest.TokenOf("red"), apns.Answer{Slow: time.Hour, Times: 1})

	s := notifier(w, w.Env(notice.SendNoticesFunction()))
	s.SetPatience(50 * time.Millisecond)

	if err := s.SendNotices(w.NewContext(), n); problem.Of(err) != problem.Unavailable || len(notifiedMembers(w, n.ID)) != 0 {
		t.Errorf("without an answer of Apple: %v with the deliveries %q, want Unavailable and none", err, notifiedMembers(w, n.ID))
	}

	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), n))

	if got, want := notificationsOn(phones, "red"), []string{"red: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestFailedReadOfPhonesRepeatsTheRest: the members before it are notified and recorded, and
// the next run notifies the others.
func TestFailedReadOfPhonesRepeatsTheRest(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann", "bob")
	w.RegisterPhone("red", "ann")
	w.RegisterPhone("green", "bob")

	n := noticeTo("ann", "bob")
	env := w.Env(notice.SendNoticesFunction())
	next, reads := env.AWS.HTTPClient, 0

	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") { // of the list of a member's phones
			reads++
		}

		if reads != 2 {
			return next.Do(r)
		}

		reads++
		refusal := httptest.NewRecorder()
		pickemtest.RefuseCall(refusal, "ValidationException") // which the SDK does not retry

		return refusal.Result(), nil
	})
	if err := notifier(w, env).SendNotices(w.NewContext(), n); err == nil {
		t.Error("the first run returned no error")
	}

	if got, want := notifiedMembers(w, n.ID), []string{"ann"}; !slices.Equal(got, want) {
		t.Errorf("members notified (-want +got):\n%s", cmp.Diff(want, got))
	}

	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), n))

	if got, want := notificationsOn(phones, "red", "green"), []string{"red: Clash, Pick!", "green: Clash, Pick!"}; !slices.Equal(got, want) ||
		arrivals(phones, "red", "green") > 1 {
		t.Errorf("notifications %q, want %q; one arrived %d times, want once", got, want, arrivals(phones, "red", "green"))
	}
}

// TestPhoneRegisteredDuringThePushIsKept: although Apple reported its token as invalid.
func TestPhoneRegisteredDuringThePushIsKept(t *testing.T) {
	t.Parallel()

	for user, want := range map[string]string{"ann": "red of ann", "bob": "red of bob"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			phones := w.WithAPNs()
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			phones.Answer(pickemtest.TokenOf("red"), apns.Refuse(apns2.ReasonUnregistered))

			if user == "ann" {
				w.MoveClock(w.Clock.Now().Add(time.Minute)) // registrations within a second have the same seenAt
			}

			env := pickemtest.InterruptBefore(w.Env(notice.SendNoticesFunction()), "DeleteItem", 1, func() { w.RegisterPhone("red", user) })
			testkit.Must(t, notifier(w, env).SendNotices(w.NewContext(), noticeTo("ann")))

			if got := w.RegisteredPhones("red"); !slices.Equal(got, []string{want}) {
				t.Errorf("registered phones %q, want %q", got, want)
			}
		})
	}
}

// TestSendNoticesCrashes: after a crash at any call the second run notifies all members. A
// notification that arrives again replaces the first.
func TestSendNoticesCrashes(t *testing.T) {
	t.Parallel()

	type outcome struct{ Recorded, Shown []string }

	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := pickemtest.New(t)
		phones := w.WithAPNs()
		users := []string{"ann", "bob", "cat"}
		w.AddMembers(users...)

		for _, u := range users {
			w.RegisterPhone(u, u)
		}

		w.RegisterPhone("dead", "bob")
		phones.Answer(pickemtest.TokenOf("dead"), apns.Refuse(apns2.ReasonUnregistered))

		n := noticeTo(users...)
		p.Ended(notifier(w, w.CrashingEnv(notice.SendNoticesFunction(), p)).SendNotices(w.NewContext(), n))
		testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), n))

		return outcome{notifiedMembers(w, n.ID), notificationsOn(phones, users...)}
	})
}

// TestRemovedMemberGotNothing: a member who is removed while a notice is sent keeps no record
// of it.
func TestRemovedMemberGotNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.WithAPNs()
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")

	n := noticeTo("ann")
	env := pickemtest.InterruptBefore(w.Env(notice.SendNoticesFunction()), "TransactWriteItems", 1, func() {
		w.MustAdmin(userdata.DeleteUserFunction(), "/admin/users/ann", "")
	})
	testkit.Must(t, notifier(w, env).SendNotices(w.NewContext(), n))

	if got := w.Dump(); len(got) != 0 {
		t.Errorf("rows after the removal: %q, want none", got)
	}
}
