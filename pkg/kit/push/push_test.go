package push

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
)

const (
	team   = "TEAM123456"
	keyID  = "KEY1234567"
	bundle = "app.matchday"
)

var start = time.Date(2026, 6, 1, 12, 30, 0, 0, time.UTC)

// apple starts a push service and a sender for it, which share a clock.
func apple(t testing.TB, change ...func(*Config, *apns.Config)) (*apns.Server, *Sender) {
	t.Helper()
	return appleAt(t, clock.New(start, clock.Free), change...)
}

func appleAt(t testing.TB, c *clock.Clock, change ...func(*Config, *apns.Config)) (*apns.Server, *Sender) {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	cfg := Config{
		TeamID: team, KeyID: keyID, Bundle: bundle, Key: key,
		Now: c.Now, RootCAs: x509.NewCertPool(),
		Backoff: time.Millisecond, DialTimeout: time.Minute, AnswerTimeout: time.Minute, // for slow machines
	}

	at := apns.Config{TeamID: team, KeyID: keyID, PublicKey: &key.PublicKey, Bundle: bundle}
	for _, f := range change {
		f(&cfg, &at)
	}

	server := apns.New(c, at)
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { server.Close() })

	cfg.Endpoint = server.URL()
	cfg.RootCAs.AppendCertsFromPEM(server.CA())

	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)

	return server, s
}

func tokens(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%064x", i+1)
	}

	return all
}

func must(m *Message, err error) func(testing.TB) *Message {
	return func(t testing.TB) *Message {
		t.Helper()

		if err != nil {
			t.Fatal(err)
		}

		return m
	}
}

func update(t testing.TB, n int) *Message {
	return must(Update(State{Content: map[string]any{"n": n}, Time: start.Add(time.Duration(n) * time.Second)}))(t)
}

func alert(t testing.TB) *Message {
	return must(Notify(Alert{Banner: Banner{Title: "WICKET", Body: "Smith b Jones 12", Sound: "default"}, Collapse: "m1/w3"}))(t)
}

// send sends m and returns the outcomes by token, each of which must be the
// only one.
func send(t testing.TB, s *Sender, m *Message, to []string) (map[string]Outcome, Counts, error) {
	t.Helper()

	got := map[string]Outcome{}
	counts, err := s.Send(t.Context(), m, slices.Values(to), func(token string, o Outcome) {
		if _, ok := got[token]; ok {
			t.Errorf("a second outcome for %s", token)
		}

		got[token] = o
	})

	return got, counts, err
}

func TestEachAnswer(t *testing.T) {
	t.Parallel()

	since := start.Add(-time.Hour).Add(123 * time.Millisecond)
	refusal := apns.Refuse(apns2.ReasonUnregistered)
	refusal.Since = since

	tests := []struct {
		name    string
		script  []apns.Answer
		update  Outcome // of an update
		alert   Outcome // of an alert
		retries int
		refused string
	}{
		{"delivered", nil, Outcome{}, Outcome{}, 0, ""},
		{"unregistered", []apns.Answer{refusal}, Outcome{Unregistered, "Unregistered", since}, Outcome{Unregistered, "Unregistered", since}, 0, ""},
		{"expired", []apns.Answer{apns.Refuse("ExpiredToken")}, Outcome{Unregistered, "ExpiredToken", start},
			Outcome{Unregistered, "ExpiredToken", start}, 0, ""},
		{"bad token", []apns.Answer{apns.Refuse("BadDeviceToken")}, Outcome{Unregistered, "BadDeviceToken", start},
			Outcome{Unregistered, "BadDeviceToken", start}, 0, ""},
		{"not for topic", []apns.Answer{apns.Refuse("DeviceTokenNotForTopic")}, Outcome{Unregistered, "DeviceTokenNotForTopic", start},
			Outcome{Unregistered, "DeviceTokenNotForTopic", start}, 0, ""},
		{"too many, then fine", times(2, apns.Refuse("TooManyRequests")), Outcome{}, Outcome{}, 2, ""},
		{"too many for ever", times(0, apns.Refuse("TooManyRequests")), Outcome{Result: Dropped, Reason: "TooManyRequests"},
			Outcome{Result: Requeue, Reason: "TooManyRequests"}, 7, ""},
		{"too many token updates", times(3, apns.Refuse("TooManyProviderTokenUpdates")), Outcome{}, Outcome{}, 3, ""},
		{"internal error", times(1, apns.Refuse("InternalServerError")), Outcome{}, Outcome{}, 1, ""},
		{"unavailable for ever", times(0, apns.Refuse("ServiceUnavailable")), Outcome{Result: Dropped, Reason: "ServiceUnavailable"},
			Outcome{Result: Requeue, Reason: "ServiceUnavailable"}, 7, ""},
		{"shutdown", times(1, apns.Refuse("Shutdown")), Outcome{}, Outcome{}, 1, ""},
		{"idle timeout", times(1, apns.Refuse("IdleTimeout")), Outcome{}, Outcome{}, 1, ""},
		{"unrelated key", times(1, apns.Refuse("UnrelatedKeyIdInToken")), Outcome{}, Outcome{}, 1, ""},
		{"expired provider token", times(1, apns.Refuse("ExpiredProviderToken")), Outcome{}, Outcome{}, 1, ""},
		{"provider token stays expired", times(0, apns.Refuse("ExpiredProviderToken")), Outcome{Result: Dropped, Reason: "ExpiredProviderToken"},
			Outcome{Result: Requeue, Reason: "ExpiredProviderToken"}, 1, "ExpiredProviderToken"},
		{"invalid provider token", times(0, apns.Refuse("InvalidProviderToken")), Outcome{Result: Dropped, Reason: "InvalidProviderToken"},
			Outcome{Result: Requeue, Reason: "InvalidProviderToken"}, 0, "InvalidProviderToken"},
		{"bad environment", times(0, apns.Refuse("BadEnvironmentKeyIdInToken")), Outcome{Result: Dropped, Reason: "BadEnvironmentKeyIdInToken"},
			Outcome{Result: Requeue, Reason: "BadEnvironmentKeyIdInToken"}, 0, "BadEnvironmentKeyIdInToken"},
		{"too large", times(0, apns.Refuse("PayloadTooLarge")), Outcome{Result: Dropped, Reason: "PayloadTooLarge"},
			Outcome{Result: Requeue, Reason: "PayloadTooLarge"}, 0, "PayloadTooLarge"},
		{"our bug", times(0, apns.Refuse("BadPriority")), Outcome{Result: Dropped, Reason: "BadPriority"},
			Outcome{Result: Requeue, Reason: "BadPriority"}, 0, "BadPriority"},
		{"unknown reason", times(0, apns.Answer{Status: 418, Reason: "Teapot"}), Outcome{Result: Dropped, Reason: "Teapot"},
			Outcome{Result: Requeue, Reason: "Teapot"}, 0, "Teapot"},
		{"unknown reason, of the token", times(0, apns.Answer{Status: 400, Reason: "OddToken"}), Outcome{Result: Dropped, Reason: "OddToken"},
			Outcome{Result: Requeue, Reason: "OddToken"}, 0, ""},
		{"answer lost", []apns.Answer{{Drop: true, Times: 1}}, Outcome{}, Outcome{}, 1, ""},
		{"push lost", []apns.Answer{{Status: 503, Drop: true, Times: 2}}, Outcome{}, Outcome{}, 2, ""},
		{"goes away", []apns.Answer{{GoAway: true, Times: 1}}, Outcome{}, Outcome{}, 0, ""},
	}
	for _, test := range tests {
		for _, kind := range []string{"update", "alert"} {
			t.Run(test.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				server, s := apple(t)
				to := tokens(1)
				server.Answer(to[0], test.script...)

				m, want := update(t, 1), test.update
				if kind == "alert" {
					m, want = alert(t), test.alert
				}

				got, counts, err := send(t, s, m, to)
				if diff := cmp.Diff(want, got[to[0]]); diff != "" {
					t.Errorf("the outcome differs (-want +got):\n%s", diff)
				}

				if counts.Retries != test.retries {
					t.Errorf("%d retries, want %d", counts.Retries, test.retries)
				}

				refused, ok := errors.AsType[*Refused](err)
				if ok != (test.refused != "") || ok && refused.Reason != test.refused || !ok && err != nil {
					t.Errorf("error %v, want %q", err, test.refused)
				}

				if d, _ := server.Device(to[0]); want.Result == Delivered && d.State == nil && len(d.Alerts) == 0 {
					t.Error("the phone shows nothing")
				}

				if err != nil && strings.Contains(err.Error(), to[0]) {
					t.Errorf("the error holds a token: %v", err)
				}
			})
		}
	}
}

func times(n int, a apns.Answer) []apns.Answer {
	a.Times = n
	return []apns.Answer{a}
}

func TestEveryTokenGetsItOnce(t *testing.T) {
	t.Parallel()

	var server *apns.Server

	all := make(chan struct{})
	connected := sync.OnceFunc(func() { close(all) })
	server, s := apple(t, func(_ *Config, at *apns.Config) {
		at.Observe = func(apns.Push) { // nothing is answered before there are four connections
			if server.Counts()["Connection"] >= 4 {
				connected()
			}

			<-all
		}
	})
	to := tokens(2000)

	got, counts, err := send(t, s, alert(t), to)
	if err != nil {
		t.Fatal(err)
	}

	if want := (Counts{Delivered: len(to)}); counts != want || len(got) != len(to) {
		t.Errorf("%+v and %d outcomes, want %+v", counts, len(got), want)
	}

	for _, token := range to {
		if d, _ := server.Device(token); d.Pushes != 1 {
			t.Fatalf("%s got %d pushes", token, d.Pushes)
		}
	}

	c := server.Counts()
	if c["Connection"] != 4 || c["TooManyStreams"] != 0 {
		t.Errorf("%d connections, %d streams before a valid token", c["Connection"], c["TooManyStreams"])
	}
}

// A connection that was dialled just before the fleet's next provider token is
// due must not show APNs two tokens within 20 minutes.
func TestNextProviderTokenSoonAfterTheDial(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	_, s := appleAt(t, c)
	m := must(Update(State{Content: map[string]int{"runs": 1}, Time: start}))(t)

	for _, at := range []time.Duration{9*time.Minute + 59*time.Second, 10 * time.Minute} { // a token is due at 12:40
		passed := make(chan struct{})

		c.At(start.Add(at), func() { close(passed) })
		<-passed

		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}

		counts, err := s.Send(t.Context(), m, slices.Values(tokens(20)), nil)
		if err != nil || counts.Delivered != 20 || counts.Retries != 0 {
			t.Errorf("at %v: %+v, %v; want 20 delivered at the first try", c.Now(), counts, err)
		}
	}
}

func TestFewTokensNeedOneConnection(t *testing.T) {
	t.Parallel()

	server, s := apple(t)
	if _, _, err := send(t, s, update(t, 1), tokens(50)); err != nil {
		t.Fatal(err)
	}

	if n := server.Counts()["Connection"]; n != 1 {
		t.Errorf("%d connections for 50 tokens", n)
	}
}

func TestGoAwayUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	server.Chaos(apns.Chaos{GoAwayEvery: 150})

	to := tokens(2000)
	for n := range 3 {
		_, counts, err := send(t, s, update(t, n), to)
		if err != nil || counts.Delivered != len(to) {
			t.Fatalf("run %d: %+v, %v", n, counts, err)
		}
	}

	for _, token := range to {
		if d, _ := server.Device(token); string(d.State) != `{"n":2}` || d.Pushes < 3 {
			t.Fatalf("%s shows %s after %d pushes", token, d.State, d.Pushes)
		}
	}

	if n := server.Counts()["GoAway"]; n < 10 {
		t.Errorf("only %d connections went away", n)
	}
}

func TestChaosLosesNothing(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	server.Chaos(apns.Chaos{
		Seed: 7, Unregistered: 0.02, BadToken: 0.02, TooMany: 0.03, Internal: 0.03, Unavailable: 0.03,
		Drop: 0.001, Lost: 0.001, GoAwayEvery: 300,
	})

	to := tokens(1500)

	got, counts, err := send(t, s, alert(t), to)
	if err != nil || len(got) != len(to) {
		t.Fatalf("%d outcomes, %v", len(got), err)
	}

	if counts.Delivered+counts.Gone+counts.Requeued != len(to) || counts.Requeued > 10 || counts.Gone < 30 {
		t.Errorf("%+v", counts)
	}

	for token, o := range got {
		d, ok := server.Device(token)
		if o.Result == Delivered && (len(d.Alerts) != 1 || d.Alerts[0].Body != "Smith b Jones 12") {
			t.Errorf("the outcome of %s is delivered, but the phone has %v", token, d.Alerts)
		}

		if o.Result == Unregistered && ok {
			t.Errorf("the outcome of %s is unregistered, but the phone has %v", token, d.Alerts)
		}
	}
}

func TestFreezeLosesNothing(t *testing.T) {
	t.Parallel()

	for name, freeze := range map[string]func(*apns.Server){
		"closed":          (*apns.Server).Drop,
		"silently broken": (*apns.Server).Mute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, s := apple(t, func(c *Config, _ *apns.Config) { c.InFlight = 10 })
			to := tokens(200)

			for n := range 4 {
				if err := s.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}

				_, counts, err := send(t, s, update(t, n), to)
				if want := (Counts{Delivered: len(to)}); counts != want || err != nil {
					t.Fatalf("after freeze %d: %+v, %v; want %+v", n, counts, err, want)
				}

				freeze(server)
			}

			for _, token := range to {
				if d, _ := server.Device(token); d.Pushes != 4 {
					t.Fatalf("%s got %d pushes", token, d.Pushes)
				}
			}
		})
	}
}

// TestFreezeLosesNoChannel: after a freeze, channels with endpoints of their own are reached on
// new connections at once, and not after AnswerTimeout.
func TestFreezeLosesNoChannel(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)

	var others []*apns.Server

	_, s := appleAt(t, c, func(cfg *Config, at *apns.Config) {
		for _, endpoint := range []*string{&cfg.BroadcastEndpoint, &cfg.ManageEndpoint} {
			server := apns.New(c, *at)
			if err := server.Listen(); err != nil {
				t.Fatal(err)
			}

			t.Cleanup(func() { server.Close() })
			cfg.RootCAs.AppendCertsFromPEM(server.CA())
			*endpoint = server.URL()
			others = append(others, server)
		}

		cfg.AnswerTimeout = 2 * time.Minute
	})
	for n := range 3 {
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()

		if _, err := s.CreateChannel(ctx, KeepNothing); err != nil {
			t.Fatalf("after freeze %d: %v", n, err)
		}

		var refused *Refused // the two servers do not share their channels
		if err := s.Broadcast(ctx, "dGVzdA==", update(t, n)); !errors.As(err, &refused) {
			t.Fatalf("after freeze %d the broadcast is answered with %v, want a refusal", n, err)
		}

		for _, server := range others {
			server.Mute()
		}
	}

	for _, server := range others {
		server.Close()
	}

	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("without the hosts of broadcasts and channels a run fails: %v", err)
	}
}

// If a connection stops answering in the middle of a run, the sender detects it and
// sends its pushes again.
func TestSilentBreakUnderLoad(t *testing.T) {
	t.Parallel()
	server, s := apple(t, func(c *Config, _ *apns.Config) {
		// A dial and five answers take milliseconds.
		c.InFlight, c.DialTimeout, c.AnswerTimeout = 5, 3*time.Second, 3*time.Second
	})
	to := tokens(40)

	var once sync.Once

	counts, err := s.Send(t.Context(), update(t, 1), slices.Values(to), func(string, Outcome) { once.Do(server.Mute) })
	if err != nil || counts.Delivered != len(to) || counts.Retries == 0 {
		t.Fatalf("%+v, %v; want %d delivered, some at a second try", counts, err, len(to))
	}
}

// TestSilenceInTheHandshake: a dial whose TLS handshake gets no answer ends with its time limit,
// and its pushes are sent again.
func TestSilenceInTheHandshake(t *testing.T) {
	t.Parallel()
	server, s := apple(t, func(c *Config, _ *apns.Config) { c.InFlight, c.DialTimeout = 5, 3*time.Second })
	s.clients[1].Addr, _ = relay(t, server, 1)

	to := tokens(40)
	counts, err := s.Send(t.Context(), update(t, 1), slices.Values(to), nil)

	if err != nil || counts.Delivered != len(to) || counts.Retries == 0 {
		t.Fatalf("%+v, %v; want %d delivered, some at a second try", counts, err, len(to))
	}
}

func TestExpirationIsAlwaysSaid(t *testing.T) {
	t.Parallel()

	for want, expires := range map[string]time.Time{"0": {}, "1780317000": start} {
		m := must(Update(State{Content: struct{}{}, Time: start, Terms: Terms{Expires: expires}}))(t)
		if m.expiration != want {
			t.Errorf("apns-expiration %q, want %q", m.expiration, want)
		}
	}
}

// TestPriorityIsHighByDefault: APNs delays pushes of a lower priority.
func TestPriorityIsHighByDefault(t *testing.T) {
	t.Parallel()

	for priority, want := range map[int]string{0: "10", apns2.PriorityLow: "5"} {
		terms := Terms{Priority: priority}
		m := must(Update(State{Content: struct{}{}, Time: start, Terms: terms}))(t)

		n := must(Notify(Alert{Banner: Banner{Title: "WICKET"}, Terms: terms}))(t)
		if m.priority != want || n.priority != want {
			t.Errorf("priority %d: apns-priority is %s for an update and %s for an alert, want %s", priority, m.priority, n.priority, want)
		}
	}
}

func TestRefusedRunStops(t *testing.T) {
	t.Parallel()
	server, s := apple(t, func(c *Config, _ *apns.Config) { c.KeyID = "OTHERKEY12" })
	taken := 0

	counts, err := s.Send(t.Context(), update(t, 1), func(yield func(string) bool) {
		for _, token := range tokens(100_000) {
			taken++

			if !yield(token) {
				return
			}
		}
	}, nil)
	if r, ok := errors.AsType[*Refused](err); !ok || r.Status != http.StatusForbidden || r.Reason != apns2.ReasonInvalidProviderToken {
		t.Fatalf("error %v", err)
	}

	if counts.Delivered != 0 || taken > mostTaken(s)+1 {
		t.Errorf("%+v after taking %d tokens", counts, taken)
	}

	if n := server.Counts()[apns2.ReasonInvalidProviderToken]; n > 100 {
		t.Errorf("APNs had to refuse %d times", n)
	}
}

func TestBadTokensStayOffTheWire(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	bad := []string{"", "xyz", "abc", "../1/apps", strings.Repeat("ab", 101), "12 34", "0g", "G0", "0/", ":0", "0@", "`0"}

	got, counts, err := send(t, s, update(t, 1), append(bad, tokens(1)...))
	if err != nil || counts.Gone != len(bad) || counts.Delivered != 1 {
		t.Fatalf("%+v, %v", counts, err)
	}

	for _, token := range bad {
		if got[token].Result != Unregistered {
			t.Errorf("%q: %+v", token, got[token])
		}
	}

	if n := server.Counts()[apns2.ReasonBadDeviceToken]; n != 0 {
		t.Errorf("APNs saw %d bad tokens", n)
	}
}

func TestLateMessageIsDropped(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	server.Answer("", apns.Refuse(apns2.ReasonServiceUnavailable))

	m := must(Update(State{Content: struct{}{}, Time: start, Terms: Terms{Deadline: start.Add(20 * time.Millisecond)}}))(t)
	s.cfg.Backoff = time.Second

	got, counts, err := send(t, s, m, tokens(5))
	if !errors.Is(err, ErrLate) || counts.Dropped != len(got) {
		t.Errorf("%+v, %v", counts, err)
	}
}

// mostTaken is how many tokens a run may have taken without an outcome.
func mostTaken(s *Sender) int { return s.cfg.Connections*s.cfg.InFlight + len(feed{}.ring) }

func TestSupersededRunStops(t *testing.T) {
	t.Parallel()
	_, s := apple(t)
	newer := errors.New("a newer state")
	ctx, cancel := context.WithCancelCause(t.Context())

	counts, err := s.Send(ctx, update(t, 1), slices.Values(tokens(5000)), func(string, Outcome) { cancel(newer) })
	if !errors.Is(err, newer) || counts.Delivered+counts.Dropped > mostTaken(s) {
		t.Errorf("%+v, %v", counts, err)
	}
}

// TestCloseEndsConnections: what is open when a sender is closed takes no other request.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	_, s := apple(t)

	var open net.Conn

	dial := s.clients[0].Dial

	s.clients[0].Dial = func(ctx context.Context) (nc net.Conn, err error) {
		open, err = dial(ctx)
		return open, err
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := open.SetDeadline(time.Time{}); err != nil {
		t.Errorf("the connection is closed before: %v", err)
	}

	s.Close()

	if err := open.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is open afterwards: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	server.Close()

	got, counts, err := send(t, s, alert(t), tokens(300))
	if err != nil || counts.Requeued != len(got) || len(got) != 300 {
		t.Errorf("%+v, %v", counts, err)
	}

	if err := s.Ready(t.Context()); err == nil {
		t.Error("Ready found a server that is not there")
	}
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	ctx := t.Context()

	id, err := s.CreateChannel(ctx, KeepNothing)
	if err != nil {
		t.Fatal(err)
	}

	to := tokens(3)
	for _, token := range to {
		server.Subscribe(token, id)
	}

	if err := s.Broadcast(ctx, id, update(t, 1)); err != nil {
		t.Fatal(err)
	}

	for _, token := range to {
		if d, _ := server.Device(token); string(d.State) != `{"n":1}` {
			t.Errorf("%s shows %s", token, d.State)
		}
	}

	begin := must(Begin(Activity{Type: "Match", Attributes: struct{}{}},
		State{Content: struct{}{}, Time: start, Alert: &Banner{Title: "Toss"}}))(t)
	for _, m := range []*Message{begin, alert(t)} {
		err := s.Broadcast(ctx, id, m)
		if _, asked := errors.AsType[*Refused](err); err == nil || asked {
			t.Errorf("a start or an alert was sent to APNs: %v", err)
		}
	}

	kept := must(Update(State{Content: struct{}{}, Time: start, Terms: Terms{Expires: start.Add(time.Hour)}}))(t)
	if _, ok := errors.AsType[*Refused](s.Broadcast(ctx, id, kept)); !ok {
		t.Error("a channel that keeps nothing took a message that expires")
	}

	if ids, err := s.Channels(ctx); err != nil || !slices.Equal(ids, []string{id}) {
		t.Errorf("channels %q, %v", ids, err)
	}

	for range 2 {
		if err := s.DeleteChannel(ctx, id); err != nil {
			t.Fatal(err)
		}
	}

	if r, ok := errors.AsType[*Refused](s.Broadcast(ctx, id, update(t, 2))); !ok || r.Reason != "ChannelNotRegistered" {
		t.Errorf("broadcast to a deleted channel: %v", r)
	}
}

func TestStartByPush(t *testing.T) {
	t.Parallel()

	started := make(chan apns.Start, 2)
	server, s := apple(t, func(_ *Config, a *apns.Config) { a.Started = func(at apns.Start) { started <- at } })

	id, err := s.CreateChannel(t.Context(), KeepLatest)
	if err != nil {
		t.Fatal(err)
	}

	for _, channel := range []string{"", id} {
		m := must(Begin(Activity{Type: "Match", Attributes: map[string]int{"id": 5}, Channel: channel},
			State{Content: map[string]int{"n": 0}, Time: start, Alert: &Banner{Title: "Toss"}}))(t)
		if _, counts, err := send(t, s, m, tokens(1)); err != nil || counts.Delivered != 1 {
			t.Fatalf("%+v, %v", counts, err)
		}

		at := <-started
		if d, _ := server.Device(at.Update); at.Channel != channel || string(at.Attributes) != `{"id":5}` || string(d.State) != `{"n":0}` {
			t.Errorf("started %+v, shows %s", at, d.State)
		}
	}
}

func TestEndDismisses(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	to := tokens(1)

	end := must(End(State{Content: map[string]int{"n": 9}, Time: start}, start.Add(time.Minute)))(t)
	for _, m := range []*Message{update(t, 0), end, update(t, 99)} {
		if _, _, err := send(t, s, m, to); err != nil {
			t.Fatal(err)
		}
	}

	d, _ := server.Device(to[0])
	if string(d.State) != `{"n":9}` || !d.Ended || d.AfterEnd != 1 || !d.Visible(start) || d.Visible(start.Add(time.Minute)) {
		t.Errorf("%+v", d)
	}
}

func TestMessageLimits(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", MaxPayload)
	if _, err := Update(State{Content: map[string]string{"a": long}, Time: start}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large update: %v", err)
	}

	if _, err := Notify(Alert{Banner: Banner{Body: long}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large alert: %v", err)
	}

	if _, err := Notify(Alert{Collapse: long[:65]}); err == nil {
		t.Error("a collapse id of 65 bytes was taken")
	}

	if _, err := Update(State{Content: struct{}{}}); err == nil {
		t.Error("an update without a time was taken")
	}

	if _, err := Begin(Activity{Type: "Match", Attributes: struct{}{}}, State{Content: struct{}{}, Time: start}); err == nil {
		t.Error("a start without an alert was taken")
	}
}

func TestOpenRefusesNonsense(t *testing.T) {
	t.Parallel()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}

	good := Config{
		TeamID: team,
		KeyID:  keyID,
		Bundle: bundle,
		Now:    time.Now,
		PEM:    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}

	apple, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}

	if apple.broadcast != apple.clients[0] || apple.manage == apple.clients[0] {
		t.Error("broadcasts have a connection of their own, or channels have none: their hosts are api.push.apple.com and another")
	}

	for name, spoil := range map[string]func(*Config){
		"no team":       func(c *Config) { c.TeamID = "" },
		"no key id":     func(c *Config) { c.KeyID = "" },
		"no bundle":     func(c *Config) { c.Bundle = "" },
		"no clock":      func(c *Config) { c.Now = nil },
		"no key":        func(c *Config) { c.PEM = []byte("secret") },
		"plain HTTP":    func(c *Config) { c.Endpoint = "http://localhost" },
		"odd broadcast": func(c *Config) { c.BroadcastEndpoint = "nowhere" },
		"no host":       func(c *Config) { c.Endpoint = "https://" },
		"odd manage":    func(c *Config) { c.ManageEndpoint = "https:///channels" },
	} {
		c := good
		spoil(&c)

		if _, err := Open(c); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStartIsNotRepeated(t *testing.T) {
	t.Parallel()

	lost := apns.Answer{Drop: true, Times: 1}

	busy := times(1, apns.Refuse("ServiceUnavailable"))[0]
	for name, test := range map[string]struct {
		script  []apns.Answer
		want    Outcome
		started int
		retries int
	}{
		"delivered":              {nil, Outcome{}, 1, 0},
		"answer lost":            {[]apns.Answer{lost}, Outcome{Result: Requeue}, 1, 0},
		"push lost":              {times(1, apns.Answer{Status: 503, Drop: true}), Outcome{Result: Requeue}, 0, 0},
		"no answer":              {times(1, apns.Answer{Status: 503, Slow: 24 * time.Hour}), Outcome{Result: Requeue}, 0, 0},
		"busy":                   {[]apns.Answer{busy}, Outcome{}, 1, 1},
		"busy, then answer lost": {[]apns.Answer{busy, lost}, Outcome{Result: Requeue}, 1, 1},
		"busy for ever":          {times(0, busy), Outcome{Result: Requeue, Reason: "ServiceUnavailable"}, 0, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := clock.New(start, clock.Free)
			defer c.Work()() // so that no phone is waited for

			server, s := appleAt(t, c, func(c *Config, _ *apns.Config) {
				if name == "no answer" {
					c.AnswerTimeout = time.Second
				}
			})
			to := tokens(1)
			server.Answer(to[0], test.script...)

			state := State{Content: map[string]any{"n": 1}, Time: start, Alert: &Banner{Title: "Play has begun"}}
			m := must(Begin(Activity{Type: "Match", Attributes: map[string]any{}}, state))(t)

			got, counts, err := send(t, s, m, to)
			if err != nil || got[to[0]] != test.want || counts.Retries != test.retries {
				t.Errorf("outcome %+v after %d retries, %v; want %+v after %d", got[to[0]], counts.Retries, err, test.want, test.retries)
			}

			if d, _ := server.Device(to[0]); d.Started != test.started {
				t.Errorf("%d activities started, want %d", d.Started, test.started)
			}
		})
	}
}

// TestUnsentStartIsRepeated has the first dial fail, so that APNs cannot have the start.
func TestUnsentStartIsRepeated(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	dials, dial := 0, s.clients[0].Dial
	s.clients[0].Dial = func(ctx context.Context) (net.Conn, error) {
		if dials++; dials == 1 {
			return nil, errors.New("no")
		}

		return dial(ctx)
	}
	to := tokens(1)
	state := State{Content: map[string]any{"n": 1}, Time: start, Alert: &Banner{Title: "Play has begun"}}
	m := must(Begin(Activity{Type: "Match", Attributes: map[string]any{}}, state))(t)

	got, counts, err := send(t, s, m, to)
	if err != nil || got[to[0]].Result != Delivered || counts.Retries != 1 {
		t.Errorf("outcome %+v after %d retries, %v; want it delivered after one", got[to[0]], counts.Retries, err)
	}

	if dials != 2 {
		t.Errorf("%d dials, want 2", dials)
	}

	if d, _ := server.Device(to[0]); d.Started != 1 {
		t.Errorf("%d activities started, want 1", d.Started)
	}
}

// Whatever befalls the connections, no phone starts twice, and each that is said
// to have started has.
func TestNobodyStartsTwice(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	server.Chaos(apns.Chaos{Seed: 1, Lost: 0.02, Drop: 0.02, Unavailable: 0.1, GoAwayEvery: 7})

	state := State{Content: map[string]any{"n": 1}, Time: start, Alert: &Banner{Title: "Play has begun"}}
	m := must(Begin(Activity{Type: "Match", Attributes: map[string]any{}}, state))(t)

	got, counts, err := send(t, s, m, tokens(300))
	if err != nil || counts.Delivered == 0 {
		t.Errorf("%+v, %v", counts, err)
	}

	for token, o := range got {
		if d, _ := server.Device(token); d.Started > 1 || o.Result == Delivered && d.Started == 0 || o.Reason != "" && d.Started > 0 {
			t.Errorf("%d activities started, and the outcome is %+v", d.Started, o)
		}
	}
}

// senderWith returns a Sender that asks a handler at one of its endpoints, and the simulator at the
// others.
func senderWith(t *testing.T, handle http.HandlerFunc, endpoint func(*Config) *string) *Sender {
	server := httptest.NewUnstartedServer(handle)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	_, s := apple(t, func(c *Config, _ *apns.Config) {
		*endpoint(c) = server.URL
		c.RootCAs.AddCert(server.Certificate())
	})

	return s
}

// TestBroadcastIsRepeatedAfterALostAnswer: a phone that gets an update twice shows it once.
func TestBroadcastIsRepeatedAfterALostAnswer(t *testing.T) {
	t.Parallel()

	var asked atomic.Int64

	s := senderWith(t, func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
	}, func(c *Config) *string { return &c.BroadcastEndpoint })
	if err := s.Broadcast(t.Context(), "dGVzdA==", update(t, 1)); err != nil || asked.Load() != 2 {
		t.Errorf("got %v after %d requests, want success after 2", err, asked.Load())
	}
}

// TestChannelNeedsAnID: a channel of which Apple names no id is not a channel.
func TestChannelNeedsAnID(t *testing.T) {
	t.Parallel()

	s := senderWith(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) },
		func(c *Config) *string { return &c.ManageEndpoint })
	if id, err := s.CreateChannel(t.Context(), KeepNothing); err == nil {
		t.Errorf("the id is %q, want an error", id)
	}
}
