package fcm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/fcm"
)

var start = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

// google is a server on a clock that moves only by sleep, with the key of its account.
type google struct {
	*fcm.Server
	t     *testing.T
	clock *clock.Clock
	key   map[string]string
}

func newGoogle(t *testing.T) *google {
	t.Helper()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work())

	server, key := fcm.NewAccount(c, fcm.Config{Project: "matchday-test"})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { server.Close() })

	g := &google{Server: server, t: t, clock: c}
	if err := json.Unmarshal(key(server.URL()), &g.key); err != nil {
		t.Fatal(err)
	}

	return g
}

// sleep moves the clock. Messages that are due arrive before it returns.
func (g *google) sleep(d time.Duration) {
	g.t.Helper()

	if err := g.clock.Sleep(g.t.Context(), g.clock.Now().Add(d)); err != nil {
		g.t.Fatal(err)
	}
}

// do returns the status and the body of an answer.
func (g *google) do(path, kind, access, body string) (int, map[string]any) {
	g.t.Helper()

	r, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.URL()+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}

	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+access)

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer answer.Body.Close()

	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		g.t.Fatal(err)
	}

	if wait := answer.Header.Get("Retry-After"); wait != "" {
		out["wait"] = wait
	}

	return answer.StatusCode, out
}

// assertion returns an assertion that Google takes, as change leaves it.
func (g *google) assertion(change func(jwt.MapClaims, *jwt.Token)) string {
	g.t.Helper()

	now := g.clock.Now()
	claims := jwt.MapClaims{
		"iss": g.key["client_email"], "scope": "https://www.googleapis.com/auth/firebase.messaging", "aud": g.URL() + "/token",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = g.key["private_key_id"]

	if change != nil {
		change(claims, token)
	}

	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(g.key["private_key"]))
	if err != nil {
		g.t.Fatal(err)
	}

	text, err := token.SignedString(key)
	if err != nil {
		g.t.Fatal(err)
	}

	return text
}

// exchange exchanges an assertion for an access token. The text is the token, or why there is none.
func (g *google) exchange(grant, assertion string) (status int, text string) {
	g.t.Helper()

	form := url.Values{"grant_type": {grant}, "assertion": {assertion}}

	status, answer := g.do("/token", "application/x-www-form-urlencoded", "", form.Encode())
	if status != http.StatusOK {
		return status, fmt.Sprint(answer["error_description"])
	}

	return status, fmt.Sprint(answer["access_token"])
}

const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// access returns an access token.
func (g *google) access() string {
	g.t.Helper()

	status, token := g.exchange(grant, g.assertion(nil))
	if status != http.StatusOK {
		g.t.Fatal(token)
	}

	return token
}

// send sends a message, and returns the status with the code of FCM or, in its absence, the reason.
func (g *google) send(access, message string) string {
	g.t.Helper()

	status, answer := g.do("/v1/projects/matchday-test/messages:send", "application/json", access, `{"message":`+message+`}`)
	if status == http.StatusOK {
		return "200"
	}

	no := answer["error"].(map[string]any)
	text := fmt.Sprint(status, " ", no["status"])

	details, _ := no["details"].([]any) // null: an error of Google's front end
	for _, d := range details {
		if code, ok := d.(map[string]any)["errorCode"]; ok {
			text = fmt.Sprint(status, " ", code)
		}
	}

	if strings.Contains(fmt.Sprint(no["message"]), "registration token") {
		text += ", the token"
	}

	if wait, ok := answer["wait"]; ok {
		text += fmt.Sprint(", wait ", wait)
	}

	return text
}

const phone = "dQw4w9WgXcQ:APA91b-phone"

// TestMessagesAreJudged: what Google refuses of a message, and how. The code of FCM is of a bad token or of a bad
// message: the text tells them apart.
func TestMessagesAreJudged(t *testing.T) {
	t.Parallel()

	data := func(n int) string { return `"data":{"s":"` + strings.Repeat("x", n-1) + `"}` }

	for name, c := range map[string]struct{ message, want string }{
		"to a phone":            {`{"token":"` + phone + `","data":{"a":"b"}}`, "200"},
		"to a topic":            {`{"topic":"a-._~%9","data":{"a":"b"}}`, "200"},
		"no recipient":          {`{"data":{"a":"b"}}`, "400 INVALID_ARGUMENT"},
		"two recipients":        {`{"token":"` + phone + `","topic":"a"}`, "400 INVALID_ARGUMENT"},
		"the name of a topic":   {`{"topic":"a/b"}`, "400 INVALID_ARGUMENT"},
		"a field":               {`{"topic":"a","ttl":"1s"}`, "400 INVALID_ARGUMENT"},
		"a number":              {`{"topic":"a","data":{"a":1}}`, "400 INVALID_ARGUMENT"},
		"a key":                 {`{"topic":"a","data":{"google.a":"b"}}`, "400 INVALID_ARGUMENT"},
		"the largest":           {`{"token":"` + phone + `",` + data(fcm.MaxPayload) + `}`, "200"},
		"too large":             {`{"token":"` + phone + `",` + data(fcm.MaxPayload+1) + `}`, "400 INVALID_ARGUMENT"},
		"the largest of topics": {`{"topic":"a",` + data(fcm.MaxTopic) + `}`, "200"},
		"too large for a topic": {`{"topic":"a",` + data(fcm.MaxTopic+1) + `}`, "400 INVALID_ARGUMENT"},
		"a priority":            {`{"topic":"a","android":{"priority":"high"}}`, "400 INVALID_ARGUMENT"},
		"a ttl":                 {`{"topic":"a","android":{"ttl":"1m"}}`, "400 INVALID_ARGUMENT"},
		"four weeks":            {`{"topic":"a","android":{"ttl":"2419200s"}}`, "200"},
		"more than four weeks":  {`{"topic":"a","android":{"ttl":"2419201s"}}`, "400 INVALID_ARGUMENT"},
		"a resource":            {`{"topic":"a","android":{"notification":{"title_loc_key":"A b"}}}`, "400 INVALID_ARGUMENT"},
		"arguments of nothing":  {`{"topic":"a","android":{"notification":{"body_loc_args":["b"]}}}`, "400 INVALID_ARGUMENT"},
		"an unknown phone":      {`{"token":"dQw4w9WgXcQ:APA91b-none"}`, "404 UNREGISTERED"},
		"no token":              {`{"token":"short"}`, "400 INVALID_ARGUMENT, the token"},
		"of another project":    {`{"token":"dQw4w9WgXcQ:APA91b-foreign"}`, "403 SENDER_ID_MISMATCH"},
		"of an iPhone":          {`{"token":"dQw4w9WgXcQ:APA91b-iphone"}`, "401 THIRD_PARTY_AUTH_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := newGoogle(t)
			g.Install(phone)
			g.Foreign("dQw4w9WgXcQ:APA91b-foreign")
			g.Apple("dQw4w9WgXcQ:APA91b-iphone")

			if got := g.send(g.access(), c.message); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestAccessIsJudged: an access token lasts an hour, and is of one project.
func TestAccessIsJudged(t *testing.T) {
	t.Parallel()

	g := newGoogle(t)
	access := g.access()

	for _, c := range []struct {
		access, want string
		after        time.Duration
	}{
		{"", "401 UNAUTHENTICATED", 0}, {"ya29.another", "401 UNAUTHENTICATED", 0}, {access, "200", 0},
		{access, "200", time.Hour - time.Second}, {access, "401 UNAUTHENTICATED", time.Second},
	} {
		g.sleep(c.after)

		if got := g.send(c.access, `{"topic":"a"}`); got != c.want {
			t.Errorf("%q at %s: got %s, want %s", c.access, g.clock.Now().Sub(start), got, c.want)
		}
	}

	if status, _ := g.do("/v1/projects/another/messages:send", "application/json", g.access(), `{}`); status != http.StatusForbidden {
		t.Errorf("another project answers %d", status)
	}
}

// TestAssertionsAreJudged: what the token service takes.
func TestAssertionsAreJudged(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(jwt.MapClaims, *jwt.Token)
		grant  string
		want   string
	}{
		"good":        {want: ""},
		"the grant":   {grant: "password", want: "the grant type"},
		"the key":     {change: func(_ jwt.MapClaims, t *jwt.Token) { t.Header["kid"] = "another" }, want: "Invalid JWT Signature."},
		"the issuer":  {change: func(c jwt.MapClaims, _ *jwt.Token) { c["iss"] = "a@example.com" }, want: "the account does not exist"},
		"the service": {change: func(c jwt.MapClaims, _ *jwt.Token) { c["aud"] = "https://example.com" }, want: "the audience"},
		"the scope":   {change: func(c jwt.MapClaims, _ *jwt.Token) { c["scope"] = "email" }, want: "the scope"},
		"too long": {
			change: func(c jwt.MapClaims, _ *jwt.Token) { c["exp"] = start.Add(61 * time.Minute).Unix() },
			want:   "a JWT lasts an hour at most",
		},
		"over": {
			change: func(c jwt.MapClaims, _ *jwt.Token) { c["iat"], c["exp"] = start.Add(-time.Hour).Unix(), start.Unix() },
			want:   "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := newGoogle(t)
			kind := grant

			if c.grant != "" {
				kind = c.grant
			}

			status, text := g.exchange(kind, g.assertion(c.change))
			if status == http.StatusOK {
				text = ""
			}

			if text != c.want {
				t.Errorf("got %d %s, want %q", status, text, c.want)
			}
		})
	}
}

// TestQuotaIsOfAMinute: the minute is any, refusals of the quota do not count, and other refusals do.
func TestQuotaIsOfAMinute(t *testing.T) {
	t.Parallel()

	g := newGoogle(t)
	access := g.access()
	g.Quota(2)

	for _, c := range []struct {
		after         time.Duration
		message, want string
	}{
		{0, `{"topic":"a"}`, "200"},
		{30 * time.Second, `{"topic":"a/b"}`, "400 INVALID_ARGUMENT"},
		{0, `{"topic":"a"}`, "429 QUOTA_EXCEEDED, wait 31"},
		{30 * time.Second, `{"topic":"a"}`, "200"},
		{0, `{"topic":"a"}`, "429 QUOTA_EXCEEDED, wait 31"},
	} {
		g.sleep(c.after)

		if got := g.send(access, c.message); got != c.want {
			t.Errorf("at %s: got %s, want %s", g.clock.Now().Sub(start), got, c.want)
		}
	}
}

// TestCollapsibleMessagesWait: beyond 20, notifications and messages with a collapse key arrive one in three minutes;
// messages of data only do not wait.
func TestCollapsibleMessagesWait(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		android string
		want    [3]int // arrivals at once, after three minutes, and after six
	}{
		"data":           {`{}`, [3]int{22, 22, 22}},
		"a notification": {`{"notification":{"title":"a"}}`, [3]int{20, 21, 22}},
		"a collapse key": {`{"collapse_key":"a"}`, [3]int{20, 21, 22}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := newGoogle(t)
			g.Install(phone)

			access := g.access()
			for range 22 {
				if got := g.send(access, `{"token":"`+phone+`","android":`+c.android+`}`); got != "200" {
					t.Fatal(got)
				}
			}

			var got [3]int

			for i := range got {
				p, _ := g.Phone(phone)
				got[i] = len(p.Received) + len(p.Notifications)

				g.sleep(3*time.Minute + time.Second)
			}

			if got != c.want {
				t.Errorf("%d messages arrived, want %d", got, c.want)
			}
		})
	}
}

// TestFanOutsShareTheRate: 20,000 phones are reached in two seconds, and in four while another topic is sent to.
func TestFanOutsShareTheRate(t *testing.T) {
	t.Parallel()

	g := newGoogle(t)
	access := g.access()

	for _, topic := range []string{"a", "b"} {
		g.Audience(topic, 2*fcm.FanOut-1)
		g.Subscribe(phone+topic, topic)

		if got := g.send(access, `{"topic":"`+topic+`","data":{"a":"b"}}`); got != "200" {
			t.Fatal(got)
		}
	}

	g.sleep(5 * time.Second)

	for topic, after := range map[string]time.Duration{"a": 2 * time.Second, "b": 4 * time.Second} {
		want := []fcm.Received{{Data: map[string]string{"a": "b"}, Topic: topic, Time: start.Add(after)}}

		p, _ := g.Phone(phone + topic)
		if diff := cmp.Diff(want, p.Received); diff != "" {
			t.Errorf("topic %s (-want +got):\n%s", topic, diff)
		}
	}
}

// TestTopicsHaveTheirPhones: those that have unsubscribed, or have removed the app, get nothing.
func TestTopicsHaveTheirPhones(t *testing.T) {
	t.Parallel()

	g := newGoogle(t)
	access := g.access()

	for _, name := range []string{"stays", "leaves", "removed"} {
		g.Subscribe(phone+name, "a")
	}

	g.Unsubscribe(phone+"leaves", "a")
	g.Remove(phone + "removed")

	if got := g.send(access, `{"topic":"a"}`); got != "200" {
		t.Fatal(got)
	}

	for name, want := range map[string]int{"stays": 1, "leaves": 0, "removed": 0} {
		if p, _ := g.Phone(phone + name); len(p.Received) != want {
			t.Errorf("%s has %d messages, want %d", name, len(p.Received), want)
		}
	}
}

// TestChaosIsOfItsSeed: the same seed has the same faults, and another seed has others.
func TestChaosIsOfItsSeed(t *testing.T) {
	t.Parallel()

	faults := func(seed uint64) (all []string) {
		g := newGoogle(t)
		access := g.access()
		g.Chaos(fcm.Chaos{Seed: seed, Quota: 0.2, Internal: 0.2, Unavailable: 0.2})

		for range 30 {
			all = append(all, g.send(access, `{"topic":"a"}`))
			g.sleep(time.Second)
		}

		return all
	}

	first := faults(7)
	if diff := cmp.Diff(first, faults(7)); diff != "" {
		t.Errorf("the same seed differs:\n%s", diff)
	}

	if cmp.Equal(first, faults(8)) {
		t.Error("another seed has the same faults")
	}

	for _, want := range []string{"200", "429 QUOTA_EXCEEDED, wait 60", "500 INTERNAL", "503 UNAVAILABLE"} {
		if !strings.Contains(strings.Join(first, ";"), want) {
			t.Errorf("%s did not happen: %q", want, first)
		}
	}
}
