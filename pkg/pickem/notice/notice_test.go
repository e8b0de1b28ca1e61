package notice_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// withAPNs adds Apple to a world.
func withAPNs(w *pickemtest.Room) *apns.Server {
	w.T.Helper()
	const bundle = "app.pickem.test"
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(w.T, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(w.T, err)
	phones := apns.New(w.Clock, apns.Config{TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: bundle})
	testkit.Must(w.T, phones.Listen())
	w.T.Cleanup(func() { phones.Close() })
	ca := filepath.Join(w.T.TempDir(), "ca.pem")
	testkit.Must(w.T, os.WriteFile(ca, phones.CA(), 0o600))
	w.Settings = map[string]string{
		push.SettingURL: phones.URL(), push.SettingTeamID: "TEAM", push.SettingKeyID: "KEY", push.SettingCAFile: ca, notice.APNSBundle: bundle,
		notice.APNSKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}
	return phones
}

// notifier opens send-notices, with less patience for Apple.
func notifier(w *pickemtest.Room, env app.Env) *notice.Notifier {
	w.T.Helper()
	n := testkit.OpenWith(w.World, env, notice.OpenNotifier)
	c, err := push.ConfigOf(w.T.Context(), env, notice.APNSKey, notice.APNSBundle)
	testkit.Must(w.T, err)
	c.Connections, c.Backoff = 1, time.Microsecond
	sender, err := push.Open(c)
	testkit.Must(w.T, err)
	n.SetSender(sender)
	w.T.Cleanup(sender.Close)
	return n
}

// shows are the notifications of the phones that have a name: "red: Title, Body".
func shows(phones *apns.Server, names ...string) (all []string) {
	for _, name := range names {
		d, _ := phones.Device(pickemtest.TokenOf(name))
		for _, a := range d.Alerts {
			all = append(all, fmt.Sprintf("%s: %s, %s", name, a.Title, a.Body))
		}
	}
	return all
}

// arrivals is how often a notification came to one of these phones, at most.
func arrivals(phones *apns.Server, names ...string) (most int) {
	for _, name := range names {
		d, _ := phones.Device(pickemtest.TokenOf(name))
		for _, a := range d.Alerts {
			most = max(most, a.Times)
		}
	}
	return most
}

// claimedMembers are who is known to have been told of a notice.
func claimedMembers(w *pickemtest.Room, id string) (all []string) {
	w.T.Helper()
	for _, r := range testkit.Rows[notice.Delivery](w.World, tables.Pickem) {
		if r.PK == notice.NoticeKey(id) {
			all = append(all, strings.TrimPrefix(r.SK, "USER#"))
		}
	}
	slices.Sort(all)
	return all
}

func noticeTo(users ...string) notice.Notice {
	return notice.Notice{ID: "show#day", Title: "Clash", Body: "Pick!", EventID: pickemtest.Show, Until: pickemtest.Noon.Add(time.Hour), UserIDs: users}
}

func TestSendNotices(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := withAPNs(w)
	w.AddMembers("ann", "bob", "cat")
	w.RegisterPhone("red", "ann")
	w.RegisterPhone("blue", "ann")
	w.RegisterPhone("green", "bob")
	n, s := noticeTo("ann", "bob", "cat", "stranger"), notifier(w, w.Env(notice.SendNoticesFunction))
	for range 2 {
		testkit.Must(t, s.SendNotices(w.NewContext(), n))
		want := []string{"red: Clash, Pick!", "blue: Clash, Pick!", "green: Clash, Pick!"}
		if got := shows(phones, "red", "blue", "green"); !slices.Equal(got, want) {
			t.Errorf("the phones show (-want +got):\n%s", cmp.Diff(want, got))
		}
	}
	if got, want := claimedMembers(w, n.ID), []string{"ann", "bob"}; !slices.Equal(got, want) {
		t.Errorf("members notified (-want +got):\n%s", cmp.Diff(want, got))
	}
	claim := testkit.Row[notice.Delivery](w.World, tables.Pickem, notice.NoticeKey(n.ID), item.UserRef("ann"))
	if want := n.Until.Add(notice.KeepNotices).Unix(); claim.TTL != want {
		t.Errorf("it is known until %d, want %d", claim.TTL, want)
	}

	// Whoever gets a phone later is told later, and once.
	w.RegisterPhone("black", "cat")
	testkit.Must(t, s.SendNotices(w.NewContext(), n))
	if got, want := shows(phones, "red", "black"), []string{"red: Clash, Pick!", "black: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("the phones show (-want +got):\n%s", cmp.Diff(want, got))
	}
	d, _ := phones.Device(pickemtest.TokenOf("red"))
	var payload struct{ EventID string }
	testkit.Must(t, json.Unmarshal(d.Alerts[0].Payload, &payload))
	if payload.EventID != pickemtest.Show || d.Alerts[0].Collapse != n.ID || d.Alerts[0].Sound != "default" {
		t.Errorf("the notification is %+v of %q", d.Alerts[0], payload.EventID)
	}

	late := n
	late.ID = "show#hours"
	w.MoveClock(n.Until)
	testkit.Must(t, s.SendNotices(w.NewContext(), late))
	if n := arrivals(phones, "red", "blue", "green", "black"); n != 1 {
		t.Errorf("a notification came %d times", n)
	}
	if got := claimedMembers(w, late.ID); len(got) != 0 || len(shows(phones, "green")) != 1 {
		t.Errorf("after its time %q were told", got)
	}
	if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"notice expired before it was sent"}) {
		t.Errorf("the log complains %q", got)
	}
}

// TestNewestPhones bounds how many phones a member can have notified.
func TestNewestPhones(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := withAPNs(w)
	w.AddMembers("ann")
	var names []string
	for i := range notice.MaxDevices + 2 {
		names = append(names, fmt.Sprint("phone ", i))
		w.RegisterPhone(names[i], "ann")
		w.MoveClock(w.Clock.Now().Add(time.Second))
	}
	w.RegisterPhone(names[0], "ann") // is seen again
	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), noticeTo("ann")))
	var want []string
	for i, name := range names {
		if i != 1 && i != 2 {
			want = append(want, name+": Clash, Pick!")
		}
	}
	if got := shows(phones, names...); !slices.Equal(got, want) {
		t.Errorf("the phones show (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestBadNotices(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	withAPNs(w)
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	s := notifier(w, w.Env(notice.SendNoticesFunction))
	for name, change := range map[string]func(*notice.Notice){
		"no id":            func(n *notice.Notice) { n.ID = "" },
		"no title":         func(n *notice.Notice) { n.Title = "" },
		"no body":          func(n *notice.Notice) { n.Body = "" },
		"no time":          func(n *notice.Notice) { n.Until = time.Time{} },
		"nobody":           func(n *notice.Notice) { n.UserIDs = nil },
		"too many members": func(n *notice.Notice) { n.UserIDs = slices.Repeat([]string{"ann"}, notice.MaxUsers+1) },
		"too long":         func(n *notice.Notice) { n.Body = strings.Repeat("x", push.MaxPayload) },
	} {
		n := noticeTo("ann")
		change(&n)
		if err := s.SendNotices(w.NewContext(), n); problem.Of(err) != problem.Invalid {
			t.Errorf("%s: %v, want an Invalid fault", name, err)
		}
	}
	if got := claimedMembers(w, "show#day"); len(got) != 0 {
		t.Errorf("told were %q, want nobody", got)
	}
}

func TestLongCollapse(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := withAPNs(w)
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	s := notifier(w, w.Env(notice.SendNoticesFunction))
	for _, last := range []string{"a", "b", "b"} {
		n := noticeTo("ann")
		n.ID = strings.Repeat("x", 64) + last
		testkit.Must(t, s.SendNotices(w.NewContext(), n))
	}
	d, _ := phones.Device(pickemtest.TokenOf("red"))
	if len(d.Alerts) != 2 || len(d.Alerts[0].Collapse) != 64 || d.Alerts[0].Collapse == d.Alerts[1].Collapse {
		t.Errorf("the phone shows %+v, want one notification for each id", d.Alerts)
	}
}

// TestAppleInTrouble has the second run tell those whom the first could not reach,
// and nobody twice.
func TestAppleInTrouble(t *testing.T) {
	t.Parallel()
	busy := apns.Refuse(apns2.ReasonServiceUnavailable)
	busy.Times = 8 // all tries of one run
	lost := apns.Answer{Drop: true, Times: 8}
	forbidden := apns.Refuse(apns2.ReasonForbidden)
	forbidden.Times = 1
	for _, c := range []struct {
		name    string
		trouble func(*pickemtest.Room, *apns.Server)
		first   []string // claimed by the first run
		err     bool
		kept    []string // of the phones
		again   bool     // what was not answered for may come again, in place of the first
	}{
		{"none", func(*pickemtest.Room, *apns.Server) {}, []string{"ann", "bob"}, false, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"busy for all of a member's phones", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), busy) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"busy for one of a member's phones", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("blue"), busy) },
			[]string{"ann", "bob"}, false, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"no answer", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), lost) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, true},
		{"our credentials are refused", func(_ *pickemtest.Room, p *apns.Server) { p.Answer(pickemtest.TokenOf("green"), forbidden) },
			[]string{"ann"}, true, []string{"red of ann", "blue of ann", "green of bob"}, false},
		{"a phone is gone", func(_ *pickemtest.Room, p *apns.Server) {
			p.Answer(pickemtest.TokenOf("blue"), apns.Refuse(apns2.ReasonUnregistered))
		},
			[]string{"ann", "bob"}, false, []string{"red of ann", "green of bob"}, false},
		{"all phones of a member are gone", func(_ *pickemtest.Room, p *apns.Server) {
			p.Answer(pickemtest.TokenOf("green"), apns.Refuse(apns2.ReasonBadDeviceToken))
		},
			[]string{"ann", "bob"}, false, []string{"red of ann", "blue of ann"}, false},
		{"a phone was gone before it was registered", func(_ *pickemtest.Room, p *apns.Server) {
			gone := apns.Refuse(apns2.ReasonUnregistered)
			gone.Since = pickemtest.Noon.Add(-time.Hour)
			p.Answer(pickemtest.TokenOf("blue"), gone)
		}, []string{"ann", "bob"}, false, []string{"red of ann", "blue of ann", "green of bob"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			phones := withAPNs(w)
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			w.RegisterPhone("blue", "ann")
			w.RegisterPhone("green", "bob")
			c.trouble(w, phones)
			s := notifier(w, w.Env(notice.SendNoticesFunction))
			n := noticeTo("ann", "bob")
			if err := s.SendNotices(w.NewContext(), n); (err != nil) != c.err {
				t.Errorf("the first run gave %v", err)
			}
			if got := claimedMembers(w, n.ID); !slices.Equal(got, c.first) {
				t.Errorf("members notified (-want +got):\n%s", cmp.Diff(c.first, got))
			}
			testkit.Must(t, s.SendNotices(w.NewContext(), n))
			if got, want := claimedMembers(w, n.ID), []string{"ann", "bob"}; !slices.Equal(got, want) {
				t.Errorf("members notified after a second run (-want +got):\n%s", cmp.Diff(want, got))
			}
			for _, name := range []string{"red", "blue", "green"} {
				if n := len(shows(phones, name)); n > 1 || arrivals(phones, name) > 1 && !c.again {
					t.Errorf("the phone %s shows %d notifications, which came %d times", name, n, arrivals(phones, name))
				}
			}
			if got := w.RegisteredPhones("red", "blue", "green"); !slices.Equal(got, c.kept) {
				t.Errorf("the phones (-want +got):\n%s", cmp.Diff(c.kept, got))
			}
		})
	}
}

// TestAppleAway claims nobody while there is nobody to push to.
func TestAppleAway(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := withAPNs(w)
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	n := noticeTo("ann")
	there := w.Settings[push.SettingURL]
	w.Settings[push.SettingURL] = "https://127.0.0.1:1"
	calls := w.CountCalls(func() {
		if err := notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), n); problem.Of(err) != problem.Unavailable {
			t.Errorf("without Apple it gave %v, want Unavailable", err)
		}
	})
	if len(calls) != 0 {
		t.Errorf("without Apple it made the calls %v, want none", calls)
	}
	w.Settings[push.SettingURL] = there

	// Apple that is silent is waited for no longer than there is time.
	phones.Answer(pickemtest.TokenOf("red"), apns.Answer{Slow: time.Hour, Times: 1})
	s := notifier(w, w.Env(notice.SendNoticesFunction))
	s.SetPatience(50 * time.Millisecond)
	if err := s.SendNotices(w.NewContext(), n); problem.Of(err) != problem.Unavailable || len(claimedMembers(w, n.ID)) != 0 {
		t.Errorf("with Apple silent it gave %v, and told are %q", err, claimedMembers(w, n.ID))
	}
	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), n))
	if got, want := shows(phones, "red"), []string{"red: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("the phone shows (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestLostClaim loses the answer to a claim. The SDK makes the call again, which
// finds the claim there: it is no other run's.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := withAPNs(w)
	w.AddMembers("ann")
	w.RegisterPhone("red", "ann")
	env := w.Env(notice.SendNoticesFunction)
	next, lost := env.AWS.HTTPClient, false
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		out, err := next.Do(r)
		if err == nil && !lost && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
			lost = true
			out.Body.Close()
			return nil, errors.New("connection reset")
		}
		return out, err
	})
	testkit.Must(t, notifier(w, env).SendNotices(w.NewContext(), noticeTo("ann")))
	if got, want := shows(phones, "red"), []string{"red: Clash, Pick!"}; !lost || !slices.Equal(got, want) {
		t.Errorf("the phone shows %q, want %q", got, want)
	}
}

// TestFailedClaim ends a run in the middle of a claim. Whoever is claimed and was
// not told is told by the next; a claim of another run's stays.
func TestFailedClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		took    bool // the claim that fails takes effect
		another bool // another run tells the member first
		claimed []string
	}{
		"before":                 {false, false, []string{"ann"}},
		"after":                  {true, false, []string{"ann"}},
		"behind another's claim": {false, true, []string{"ann", "bob"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			phones := withAPNs(w)
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			w.RegisterPhone("green", "bob")
			n := noticeTo("ann", "bob")
			env := w.Env(notice.SendNoticesFunction)
			next, claims := env.AWS.HTTPClient, 0
			env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
					claims++
				}
				if claims != 2 {
					return next.Do(r)
				}
				claims++
				if c.another {
					testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), n))
				}
				if c.took {
					out, err := next.Do(r)
					testkit.Must(t, err)
					out.Body.Close()
				}
				refusal := httptest.NewRecorder()
				pickemtest.RefuseCognito(refusal, "ValidationException") // which the SDK does not try again
				return refusal.Result(), nil
			})
			if err := notifier(w, env).SendNotices(w.NewContext(), n); err == nil {
				t.Error("the first run notices nothing")
			}
			if got := claimedMembers(w, n.ID); !slices.Equal(got, c.claimed) {
				t.Errorf("members notified (-want +got):\n%s", cmp.Diff(c.claimed, got))
			}
			testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), n))
			if got, want := shows(phones, "red", "green"), []string{"red: Clash, Pick!", "green: Clash, Pick!"}; !slices.Equal(got, want) || arrivals(phones, "red", "green") > 1 {
				t.Errorf("the phones show %q, want %q, and a notification came %d times", got, want, arrivals(phones, "red", "green"))
			}
		})
	}
}

// TestRegisteredMeanwhile keeps a phone that was registered again while Apple
// called it gone.
func TestRegisteredMeanwhile(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{"ann": "red of ann", "bob": "red of bob"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			phones := withAPNs(w)
			w.AddMembers("ann", "bob")
			w.RegisterPhone("red", "ann")
			phones.Answer(pickemtest.TokenOf("red"), apns.Refuse(apns2.ReasonUnregistered))
			if user == "ann" {
				w.MoveClock(w.Clock.Now().Add(time.Minute)) // what was seen in the same second cannot be told apart
			}
			env := pickemtest.InterruptBefore(w.Env(notice.SendNoticesFunction), "DeleteItem", 1, func() { w.RegisterPhone("red", user) })
			testkit.Must(t, notifier(w, env).SendNotices(w.NewContext(), noticeTo("ann")))
			if got := w.RegisteredPhones("red"); !slices.Equal(got, []string{want}) {
				t.Errorf("the phones are %q, want %q", got, want)
			}
		})
	}
}

// TestSendNoticesCrashes: whoever was claimed when a process died may have got
// nothing; everybody else is told by the second run, and nobody twice.
func TestSendNoticesCrashes(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Claims []string
		Most   int  // how often one was told
		Others bool // were told, but for one at most
	}
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := pickemtest.New(t)
		phones := withAPNs(w)
		users := []string{"ann", "bob", "cat"}
		w.AddMembers(users...)
		for _, u := range users {
			w.RegisterPhone(u, u)
		}
		w.RegisterPhone("dead", "bob")
		phones.Answer(pickemtest.TokenOf("dead"), apns.Refuse(apns2.ReasonUnregistered))
		n := noticeTo(users...)
		notifier(w, w.CrashingEnv(notice.SendNoticesFunction, p)).SendNotices(w.NewContext(), n)
		testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction)).SendNotices(w.NewContext(), n))
		return outcome{claimedMembers(w, n.ID), arrivals(phones, users...), len(shows(phones, users...)) >= len(users)-1}
	})
}
