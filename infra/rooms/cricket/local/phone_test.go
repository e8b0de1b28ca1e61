package local

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	"matchday/pkg/kit/push"
)

// service simulates the API for phones: it records the calls, and answers with a channel if a
// request has no push token.
type service struct {
	mu      sync.Mutex
	calls   []string
	channel string
	posted  chan string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any

	_ = json.NewDecoder(r.Body).Decode(&body) // a GET has none
	call := fmt.Sprint(r.Method, " ", r.URL.Path, " ", body)

	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()

	switch {
	case r.URL.Path == "/cricket/user/preferences":
		fmt.Fprint(w, `{"alerts":["toss"],"keyEventsOnly":true,"spoilerFree":false}`)
	case r.URL.Path == "/cricket/user/activity/7" && body["pushToken"] == nil:
		fmt.Fprintf(w, `{"channel":%q}`, s.channel)
	case r.URL.Path == "/cricket/user/activity/7":
		s.posted <- body["pushToken"].(string)

		fmt.Fprint(w, `{"current":{"at":"2026-06-06T17:59:00Z","display":{"headline":"1/0"}}}`)
	}
}

// newPhones returns a world with a push service and an API, and a sender of
// pushes.
func newPhones(t *testing.T) (*World, *service, *push.Sender) {
	t.Helper()

	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
	t.Cleanup(c.Stop)

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	s := &service{posted: make(chan string, 4)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)

	w := New()

	w.Fleet = &fleet.Fleet{Config: fleet.Config{Clock: c}, URL: server.URL}
	if w.Users, err = cognito.New(c, server.URL, "app", ""); err != nil {
		t.Fatal(err)
	}

	w.Phones = apns.New(c, apns.Config{TeamID: "TEAM123456", KeyID: "KEY1234567", PublicKey: &key.PublicKey, Bundle: Bundle,
		Started: func(a apns.Start) { w.started(context.WithoutCancel(t.Context()), a) }})
	if err := w.Phones.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { w.Phones.Close() })

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.Phones.CA())

	sender, err := push.Open(push.Config{
		Endpoint: w.Phones.URL(), TeamID: "TEAM123456", KeyID: "KEY1234567", Key: key, Bundle: Bundle,
		Now: c.Now, RootCAs: roots, DialTimeout: time.Minute, AnswerTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(sender.Close)

	return w, s, sender
}

// TestEnroll checks the API calls of each kind of phone.
func TestEnroll(t *testing.T) {
	t.Parallel()

	own := NewPhone("a", "7", "3")
	listener := NewPhone("b", "7", "")
	listener.OS, listener.Listens, listener.KeyEventsOnly = "18.2", true, true
	starter := NewStarter("c", "7", "")
	calm := NewPhone("d", "7", "")
	calm.Token, calm.SpoilerFree = "", true
	device := func(p Phone) string {
		return "POST /cricket/user/device map[deviceToken:" + p.Device + " environment:sandbox frequentPushesEnabled:true osVersion:" + p.OS +
			" platform:ios]"
	}
	prefers := func(key, plain bool) []string {
		return []string{"GET /cricket/user/preferences map[]",
			fmt.Sprintf("PUT /cricket/user/preferences map[alerts:[toss] keyEventsOnly:%t spoilerFree:%t]", key, plain)}
	}

	const follow, activity = "POST /cricket/user/follow/7 map[", "POST /cricket/user/activity/7 map["
	for name, c := range map[string]struct {
		phone Phone
		want  []string
	}{
		"pushed to":  {own, append(prefers(false, false), follow+"teamId:3]", activity+"pushToken:"+own.Token+" teamId:3]")},
		"on channel": {listener, append(prefers(true, false), follow+"]", activity+"]")},
		"started": {starter, append(prefers(false, false), follow+"]",
			"PUT /cricket/user/device/push-to-start map[deviceToken:"+starter.Device+" pushToStartToken:"+starter.Starter+"]")},
		"without": {calm, append(prefers(false, true), follow+"]")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, sender := newPhones(t)

			var err error
			if s.channel, err = sender.CreateChannel(t.Context(), push.KeepNothing); err != nil {
				t.Fatal(err)
			}

			if err := w.Enroll(t.Context(), c.phone); err != nil {
				t.Fatal(err)
			}

			if want := append([]string{device(c.phone)}, c.want...); !slices.Equal(s.calls, want) {
				t.Errorf("it calls\n%q, want\n%q", s.calls, want)
			}

			if d, _ := w.Shows(c.phone); c.phone.Listens != (d.Channel == s.channel) {
				t.Errorf("it listens to %q of %q", d.Channel, s.channel)
			}

			if d, _ := w.Shows(c.phone); (name == "pushed to") != (string(d.State) == `{"headline":"1/0"}`) {
				t.Errorf("it shows %q", d.State)
			}
		})
	}
}

// TestUnknownChannel checks the error of a phone whose answer has an unknown channel.
func TestUnknownChannel(t *testing.T) {
	t.Parallel()
	w, s, _ := newPhones(t)
	s.channel = "bm9uZQ=="
	p := NewPhone("b", "7", "")

	p.Listens = true
	if err := w.Enroll(t.Context(), p); err == nil {
		t.Error("it listens to a channel that is not there")
	}
}

// TestStarted checks that a phone registers and shows an activity that a push starts, with
// the notification of the push.
func TestStarted(t *testing.T) {
	t.Parallel()
	w, s, sender := newPhones(t)

	p := NewStarter("c", "7", "3")
	if err := w.Enroll(t.Context(), p); err != nil {
		t.Fatal(err)
	}

	if _, shows := w.Shows(p); shows || w.Activity(p) != "" {
		t.Error("there is an activity before the start")
	}

	send := func(m *push.Message, err error, token string) {
		t.Helper()

		if err != nil {
			t.Fatal(err)
		}

		if _, err := sender.Send(t.Context(), m, slices.Values([]string{token}), func(string, push.Outcome) {}); err != nil {
			t.Fatal(err)
		}
	}
	toss, err := push.Notify(push.Alert{Banner: push.Banner{Title: "Toss"}})
	send(toss, err, p.Device)
	begin, err := push.Begin(push.Activity{Type: "A", Attributes: map[string]string{}}, push.State{
		Content: map[string]string{"headline": "0/0"}, Time: w.Clock.Now(), Alert: &push.Banner{Title: "Play has begun"},
	})
	send(begin, err, p.Starter)

	if token := <-s.posted; token != w.Activity(p) || token == "" {
		t.Errorf("the activity %q is registered, it has %q", token, w.Activity(p))
	}

	if d, _ := w.Shows(p); string(d.State) != `{"headline":"0/0"}` {
		t.Errorf("the phone shows %s", d.State)
	}

	var titles []string
	for _, a := range w.Alerts(p) {
		titles = append(titles, a.Title)
	}

	if want := []string{"Toss", "Play has begun"}; !slices.Equal(titles, want) {
		t.Errorf("the notifications are %q, want %q", titles, want)
	}
}
