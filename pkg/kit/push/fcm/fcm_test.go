package fcm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/sim/clock"
	sim "matchday/infra/sim/fcm"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

var start = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

// google returns a simulated Google, on a clock that stands still, and a sender to it.
func google(t *testing.T) (*sim.Server, *clock.Clock, *fcm.Sender) {
	t.Helper()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work()) // so that it stands still

	server, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { server.Close() })

	sender, err := fcm.Open(fcm.Config{Endpoint: server.URL(), Key: key(server.URL()), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(sender.Close)

	return server, c, sender
}

// token returns the token of a phone.
func token(n int) string { return fmt.Sprintf("dQw4w9WgXcQ:APA91b-%06d", n) }

// installed returns the tokens of phones on which the app is installed.
func installed(server *sim.Server, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = token(i)
		server.Install(all[i])
	}

	return all
}

// display is a message with a state.
func display(t *testing.T, terms push.Terms) *fcm.Message {
	t.Helper()

	m, err := fcm.Data(start, terms, map[string]string{"match": "42", "rev": "317"})
	if err != nil {
		t.Fatal(err)
	}

	return m
}

// notification is a message that the system shows.
func notification(t *testing.T) *fcm.Message {
	t.Helper()

	m, err := fcm.Notify(start, push.Alert{Banner: push.Banner{Title: "IND v AUS", Body: "The toss"}, Collapse: "toss-42"})
	if err != nil {
		t.Fatal(err)
	}

	return m
}

func send(ctx context.Context, s *fcm.Sender, m *fcm.Message, to iter.Seq[string]) (map[string]push.Outcome, push.Counts, error) {
	outcomes := map[string]push.Outcome{}
	counts, err := s.Send(ctx, m, to, func(token string, o push.Outcome) { outcomes[token] = o })

	return outcomes, counts, err
}

// TestSend: each phone gets the message once, with one access token for all.
func TestSend(t *testing.T) {
	t.Parallel()

	server, _, s := google(t)
	all := installed(server, 300)

	outcomes, counts, err := send(t.Context(), s, display(t, push.Terms{Expires: start.Add(2 * time.Minute)}), slices.Values(all))
	if err != nil || counts != (push.Counts{Delivered: 300}) || len(outcomes) != 300 {
		t.Fatalf("%+v of %d, %v", counts, len(outcomes), err)
	}

	want := []sim.Received{{Data: map[string]string{"match": "42", "rev": "317"}, Priority: "HIGH", Time: start}}
	for _, token := range all {
		if p, _ := server.Phone(token); !cmp.Equal(p.Received, want) {
			t.Fatal(cmp.Diff(want, p.Received))
		}
	}

	if n := server.Counts()["Access"]; n != 1 {
		t.Errorf("%d access tokens, want 1", n)
	}
}

// TestAnswers is Google's table of errors: what becomes of a token, and whether the run ends.
func TestAnswers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answer  sim.Answer
		removed bool
		foreign bool
		want    push.Outcome
		notify  push.Result // of a notification, if it differs
		tries   int
		ends    error
	}{
		"accepted":            {want: push.Outcome{Result: push.Delivered}, tries: 1},
		"the app was removed": {removed: true, want: push.Outcome{Result: push.Unregistered, Reason: "UNREGISTERED", Since: start}, tries: 1},
		"another project's":   {foreign: true, want: push.Outcome{Result: push.Unregistered, Reason: "SENDER_ID_MISMATCH", Since: start}, tries: 1},
		"an iPhone's": {
			answer: sim.Answer{Status: http.StatusUnauthorized, Code: "THIRD_PARTY_AUTH_ERROR"},
			want:   push.Outcome{Result: push.Unregistered, Reason: "THIRD_PARTY_AUTH_ERROR", Since: start}, tries: 1,
		},
		"not valid": {
			answer: sim.Answer{
				Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Text: "The registration token is not a valid FCM registration token",
			},
			want: push.Outcome{Result: push.Unregistered, Reason: "INVALID_ARGUMENT", Since: start}, tries: 1,
		},
		"not valid, by its field": {
			answer: sim.Answer{
				Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Text: "Request contains an invalid argument.", Field: "message.token",
			},
			want: push.Outcome{Result: push.Unregistered, Reason: "INVALID_ARGUMENT", Since: start}, tries: 1,
		},
		"our message is too large": {
			answer: sim.Answer{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Text: "Message is too big"},
			want:   push.Outcome{Result: push.Dropped, Reason: "INVALID_ARGUMENT"}, notify: push.Requeue, tries: 1,
		},
		"our message has a wrong field": {
			answer: sim.Answer{
				Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Text: "Request contains an invalid argument.", Field: "message.data",
			},
			want: push.Outcome{Result: push.Dropped, Reason: "INVALID_ARGUMENT"}, notify: push.Requeue, tries: 1,
		},
		"our message is not valid": {
			answer: sim.Answer{Status: http.StatusBadRequest},
			want:   push.Outcome{Result: push.Dropped, Reason: "INVALID_ARGUMENT"}, notify: push.Requeue, tries: 1,
			ends: &fcm.Refused{Status: http.StatusBadRequest, Reason: "INVALID_ARGUMENT"},
		},
		"the quota is used up": {
			answer: sim.Answer{Status: http.StatusTooManyRequests, Code: "QUOTA_EXCEEDED", RetryAfter: 30 * time.Second},
			want:   push.Outcome{Result: push.Dropped, Reason: "QUOTA_EXCEEDED"}, notify: push.Requeue, tries: 1,
			ends: &fcm.Limited{RetryAfter: 30 * time.Second},
		},
		"the quota, without a time": {
			answer: sim.Answer{Status: http.StatusTooManyRequests, Code: "QUOTA_EXCEEDED"},
			want:   push.Outcome{Result: push.Dropped, Reason: "QUOTA_EXCEEDED"}, notify: push.Requeue, tries: 1,
			ends: &fcm.Limited{RetryAfter: time.Minute},
		},
		"unavailable": {
			answer: sim.Answer{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE"},
			want:   push.Outcome{Result: push.Dropped, Reason: "UNAVAILABLE"}, notify: push.Requeue, tries: 1,
		},
		"unavailable for a time": {
			answer: sim.Answer{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE", RetryAfter: 20 * time.Second},
			want:   push.Outcome{Result: push.Dropped, Reason: "UNAVAILABLE"}, notify: push.Requeue, tries: 1,
			ends: &fcm.Limited{RetryAfter: 20 * time.Second},
		},
		"an error of Google's": {
			answer: sim.Answer{Status: http.StatusInternalServerError, Code: "INTERNAL"},
			want:   push.Outcome{Result: push.Dropped, Reason: "INTERNAL"}, notify: push.Requeue, tries: 1,
		},
		"no permission": {
			answer: sim.Answer{Status: http.StatusForbidden},
			want:   push.Outcome{Result: push.Dropped, Reason: "PERMISSION_DENIED"}, notify: push.Requeue, tries: 1,
			ends: &fcm.Refused{Status: http.StatusForbidden, Reason: "PERMISSION_DENIED"},
		},
		"our access token, once": {
			answer: sim.Answer{Status: http.StatusUnauthorized, Times: 1}, want: push.Outcome{Result: push.Delivered}, tries: 2,
		},
		"our access token, twice": {
			answer: sim.Answer{Status: http.StatusUnauthorized},
			want:   push.Outcome{Result: push.Dropped, Reason: "UNAUTHENTICATED"}, notify: push.Requeue, tries: 2,
			ends: &fcm.Refused{Status: http.StatusUnauthorized, Reason: "UNAUTHENTICATED"},
		},
		"the answer was lost":    {answer: sim.Answer{Drop: true, Applied: true, Times: 1}, want: push.Outcome{Result: push.Delivered}, tries: 2},
		"it was lost, and again": {answer: sim.Answer{Drop: true, Status: 503}, want: push.Outcome{Result: push.Dropped}, notify: push.Requeue, tries: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, fleeting := range []bool{true, false} {
				server, _, s := google(t)
				to := installed(server, 1)

				if c.removed {
					server.Remove(to[0])
				}

				if c.foreign {
					server.Foreign(to[0])
				}

				if c.answer != (sim.Answer{}) {
					server.Answer(to[0], c.answer)
				}

				m, want := display(t, push.Terms{}), c.want
				if !fleeting {
					m = notification(t)
					want.Result = max(want.Result, c.notify)
				}

				outcomes, counts, err := send(t.Context(), s, m, slices.Values(to))
				if diff := cmp.Diff(map[string]push.Outcome{to[0]: want}, outcomes); diff != "" {
					t.Error(diff)
				}

				if counts.Retries != c.tries-1 {
					t.Errorf("%d retries, want %d", counts.Retries, c.tries-1)
				}

				if !cmp.Equal(err, c.ends, cmp.Comparer(func(a, b error) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) })) {
					t.Errorf("the run ended with %v, want %v", err, c.ends)
				}
			}
		})
	}
}

// TestBadToken: what cannot be a token is not sent, and is no reason to end the run.
func TestBadToken(t *testing.T) {
	t.Parallel()

	server, _, s := google(t)
	good := installed(server, 1)[0]
	bad := []string{"", "short", `quote"aaaaaaaaaaaaaaaaa`, strings.Repeat("a", 1001), "line\nbreak-aaaaaaaaaaaa"}

	outcomes, counts, err := send(t.Context(), s, display(t, push.Terms{}), slices.Values(append(bad, good)))
	if err != nil || counts != (push.Counts{Delivered: 1, Gone: len(bad)}) || outcomes[bad[2]].Result != push.Unregistered {
		t.Errorf("%+v, %v, %v", outcomes, counts, err)
	}
}

// TestQuotaEndsTheRun: when the project's quota is used up, no more tokens are taken.
func TestQuotaEndsTheRun(t *testing.T) {
	t.Parallel()

	server, _, s := google(t)
	all := installed(server, 1000)
	server.Quota(10)

	taken := 0
	_, counts, err := send(t.Context(), s, notification(t), func(yield func(string) bool) {
		for _, token := range all {
			if taken++; !yield(token) {
				return
			}
		}
	})

	limited, ok := errors.AsType[*fcm.Limited](err)
	if !ok || limited.RetryAfter != 61*time.Second || counts.Delivered != 10 || taken == len(all) {
		t.Errorf("%+v after %d, %v", counts, taken, err)
	}
}

// TestRetryAfterIsKept: after a 429 no message is sent before the time that Google asks for, up to a minute. A 503 may be of one
// message.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answer sim.Answer
		first  time.Duration // of the message that gets the answer
		kept   time.Duration
	}{
		"the quota":               {sim.Answer{Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: 40 * time.Second}, 40 * time.Second, 40 * time.Second},
		"the quota, without time": {sim.Answer{Status: 429, Code: "QUOTA_EXCEEDED"}, time.Minute, time.Minute},
		"the quota, for long":     {sim.Answer{Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: time.Hour}, time.Hour, time.Minute},
		"unavailable":             {sim.Answer{Status: 503, Code: "UNAVAILABLE", RetryAfter: 40 * time.Second}, 40 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, clock, s := google(t)
			to := installed(server, 1)
			server.Answer("match-1", c.answer)

			for _, step := range []struct {
				at    time.Duration
				topic string
				want  time.Duration // *Limited
			}{
				{0, "match-1", c.first},
				{2 * time.Second, "match-2", max(c.kept-2*time.Second, 0)},
				{c.kept, "match-2", 0},
			} {
				if err := clock.Sleep(t.Context(), start.Add(step.at)); err != nil {
					t.Fatal(err)
				}

				outcome, counts := push.Outcome{Result: push.Delivered}, push.Counts{Delivered: 1}
				if step.want > 0 {
					outcome, counts = push.Outcome{Result: push.Requeue, Reason: "QUOTA_EXCEEDED"}, push.Counts{Requeued: 1}
				}

				before := server.Counts()
				err := s.Broadcast(t.Context(), step.topic, display(t, push.Terms{}))

				var got time.Duration
				if limited, ok := errors.AsType[*fcm.Limited](err); ok {
					got, err = limited.RetryAfter, nil
				}

				if got != step.want || err != nil {
					t.Errorf("after %s: limited for %s, %v; want %s", step.at, got, err, step.want)
				}

				if step.at == 0 {
					continue
				}

				outcomes, all, _ := send(t.Context(), s, notification(t), slices.Values(to))
				if diff := cmp.Diff(map[string]push.Outcome{to[0]: outcome}, outcomes); diff != "" || all != counts {
					t.Errorf("after %s: %+v, %s", step.at, all, diff)
				}

				if asked := !maps.Equal(before, server.Counts()); asked != (step.want == 0) {
					t.Errorf("after %s: Google was asked: %t", step.at, asked)
				}
			}
		})
	}
}

// TestAccessToken: it is fetched before it ends, and once for all who need it.
func TestAccessToken(t *testing.T) {
	t.Parallel()

	server, c, s := google(t)
	to := installed(server, 50)

	for hour := range 3 {
		if _, counts, err := send(t.Context(), s, notification(t), slices.Values(to)); err != nil || counts.Delivered != 50 {
			t.Fatalf("%+v, %v", counts, err)
		}

		if n := server.Counts()["Access"]; n != hour+1 {
			t.Errorf("%d access tokens after %d hours", n, hour)
		}

		if err := c.Sleep(t.Context(), c.Now().Add(56*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeyOfAnother: an account that Google does not know ends the run with its reason.
func TestKeyOfAnother(t *testing.T) {
	t.Parallel()

	server, c, _ := google(t)
	_, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})

	s, err := fcm.Open(fcm.Config{Endpoint: server.URL(), Key: key(server.URL()), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	const want = "fcm: Google answered 400 invalid_grant"
	if err := s.Ready(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	for _, file := range []string{"", "{}", `{"project_id":"p","client_email":"e","token_uri":"https://t","private_key":"-"}`} {
		if _, err := fcm.Open(fcm.Config{Key: []byte(file), Now: c.Now}); err != fcm.ErrKey {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// TestTokenServiceFails: it is asked once a second for all phones. A caller whose time is over fails alone.
func TestTokenServiceFails(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work())

	var asked atomic.Int32

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(service.Close)

	_, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})

	s, err := fcm.Open(fcm.Config{Endpoint: service.URL, Key: key(service.URL), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)

	ended, end := context.WithCancel(t.Context())
	end()

	if err := s.Ready(ended); !errors.Is(err, fcm.ErrUnavailable) {
		t.Error(err)
	}

	for n := range int32(3) {
		_, counts, err := send(t.Context(), s, notification(t), slices.Values([]string{token(1), token(2), token(3)}))
		if err != nil || counts != (push.Counts{Requeued: 3}) || asked.Load() != n+1 {
			t.Errorf("second %d: %+v, %v; the service was asked %d times", n, counts, err, asked.Load())
		}

		if err := c.Sleep(t.Context(), c.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeyIsReadWhenItIsNeeded: a key that is missing, none, another project's, or refused is the error of a message, and
// not of those that are sent when it was replaced.
func TestKeyIsReadWhenItIsNeeded(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work())

	server, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { server.Close() })

	_, old := sim.NewAccount(c, sim.Config{Project: "matchday-test"})
	_, other := sim.NewAccount(c, sim.Config{Project: "matchday-other"})
	settings := map[string]string{fcm.SettingURL: server.URL(), fcm.SettingProject: "matchday-test"}

	s := fcm.OpenEnv(app.Env{
		Stage: spec.Local, Clock: app.Clock{Now: c.Now}, Setting: func(name string) string { return settings[name] },
	})
	t.Cleanup(s.Close)

	const none = "fcm: there is no valid key of a service account"

	for _, k := range []struct{ key, want string }{
		{"", none + ": the secret FCM_KEY is not set"},
		{"{}", none},
		{string(other(server.URL())), none + ": it is of the project matchday-other, and FCM_PROJECT is matchday-test"},
		{string(old(server.URL())), "fcm: Google answered 400 invalid_grant"},
		{string(key(server.URL())), "<nil>"},
	} {
		settings[fcm.Key] = k.key

		if got := fmt.Sprint(s.Broadcast(t.Context(), "match-42", display(t, push.Terms{}))); got != k.want {
			t.Errorf("got %s, want %s", got, k.want)
		}

		if err := c.Sleep(t.Context(), c.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBroadcast: one request reaches all phones that have subscribed to a topic, and no other.
func TestBroadcast(t *testing.T) {
	t.Parallel()

	server, _, s := google(t)
	all := installed(server, 3)
	server.Subscribe(all[0], "match-42-IND")
	server.Subscribe(all[1], "match-42-IND")
	server.Subscribe(all[2], "match-42-AUS")

	if err := s.Broadcast(t.Context(), "match-42-IND", display(t, push.Terms{Priority: apns2.PriorityLow})); err != nil {
		t.Fatal(err)
	}

	got := map[string]int{}

	for _, token := range all {
		p, _ := server.Phone(token)
		for _, m := range p.Received {
			got[token]++

			if m.Topic != "match-42-IND" || m.Priority != "NORMAL" {
				t.Errorf("%+v", m)
			}
		}
	}

	if want := map[string]int{all[0]: 1, all[1]: 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}

	if n := server.Counts()["200"]; n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestBroadcastErrors: what a topic does not take.
func TestBroadcastErrors(t *testing.T) {
	t.Parallel()

	large, err := fcm.Data(start, push.Terms{}, map[string]string{"state": strings.Repeat("x", fcm.MaxTopic)})
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		topic  string
		m      *fcm.Message
		answer sim.Answer
		want   string
	}{
		"too large":   {"match-42", large, sim.Answer{}, "fcm: the message is too large: 2053 bytes of 2048 to a topic"},
		"a name":      {"match/42", display(t, push.Terms{}), sim.Answer{}, "fcm: Google answered 400 a topic has 1 to 900 letters, digits, and - _ . ~ %"},
		"unavailable": {"match-42", display(t, push.Terms{}), sim.Answer{Status: 503, Code: "UNAVAILABLE"}, "fcm: Google is unavailable: UNAVAILABLE"},
		"quota":       {"match-42", display(t, push.Terms{}), sim.Answer{Status: 429, Code: "QUOTA_EXCEEDED"}, "fcm: Google takes nothing for 1m0s"},
		"late":        {"match-42", display(t, push.Terms{Deadline: start.Add(-time.Second)}), sim.Answer{}, "push: the message's deadline has passed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, _, s := google(t)
			if c.answer != (sim.Answer{}) {
				server.Answer(c.topic, c.answer)
			}

			if err := s.Broadcast(t.Context(), c.topic, c.m); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestMessages: what a message is encoded to is what Google takes, and the errors name what is wrong.
func TestMessages(t *testing.T) {
	t.Parallel()

	server, _, s := google(t)
	to := installed(server, 1)

	m, err := fcm.Notify(start, push.Alert{
		Terms: push.Terms{Expires: start.Add(90 * time.Second)},
		Banner: push.Banner{
			TitleKey: &push.Key{Key: "Wicket.Title", Args: []string{"IND"}}, BodyKey: &push.Key{Key: "wicket_body"}, Sound: "default",
		},
		Collapse: "wicket-42", Thread: "wickets", Custom: map[string]any{"matchId": 42, "url": "matchday://42"},
	})
	if err != nil {
		t.Fatal(err)
	}

	if _, _, err := send(t.Context(), s, m, slices.Values(to)); err != nil {
		t.Fatal(err)
	}

	want := []sim.Shown{{
		Notification: sim.Notification{
			TitleLocKey: "wicket_title", TitleLocArgs: []string{"IND"}, BodyLocKey: "wicket_body", Sound: "default", Tag: "wicket-42",
			ChannelID: "wickets",
		},
		Data: map[string]string{"matchId": "42", "url": "matchday://42"}, First: start, Time: start, Times: 1,
	}}
	if p, _ := server.Phone(to[0]); !cmp.Equal(p.Notifications, want) {
		t.Error(cmp.Diff(want, p.Notifications))
	}

	for _, c := range []struct {
		data map[string]string
		want string
	}{
		{map[string]string{"from": "x"}, `fcm: the key "from" is Google's own`},
		{map[string]string{"google.x": "x"}, `fcm: the key "google.x" is Google's own`},
		{map[string]string{"s": strings.Repeat("x", fcm.MaxPayload)}, "fcm: the message is too large: 4097 bytes of 4096"},
	} {
		if _, err := fcm.Data(start, push.Terms{}, c.data); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestSecrets: neither errors nor outcomes have a token, a key or an access token.
func TestSecrets(t *testing.T) {
	t.Parallel()

	server, c, _ := google(t)
	_, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})

	s, err := fcm.Open(fcm.Config{Endpoint: "http://127.0.0.1:1", Key: key(server.URL()), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	outcomes, _, err := send(t.Context(), s, notification(t), slices.Values([]string{token(1)}))
	if text := fmt.Sprint(outcomes[token(1)], err); strings.Contains(text, token(1)) || strings.Contains(text, "eyJ") {
		t.Error(text)
	}
}
