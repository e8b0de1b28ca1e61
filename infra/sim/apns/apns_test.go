package apns

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"
	"pgregory.net/rapid"

	"matchday/infra/sim/clock"
)

const (
	team   = "TEAM123456"
	keyID  = "KEY1234567"
	bundle = "app.matchday"
	topic  = bundle + ".push-type.liveactivity"
)

var (
	start = time.Date(2026, 6, 1, 12, 30, 0, 0, time.UTC)
	token = strings.Repeat("a1", 32)
)

// provider is a client of the server under test.
type provider struct {
	*Server
	t      testing.TB
	key    *ecdsa.PrivateKey
	client *http.Client
	good   string // authorization
}

func serve(t testing.TB, c *clock.Clock, change func(*Config)) *provider {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	cfg := Config{TeamID: team, KeyID: keyID, PublicKey: &key.PublicKey, Bundle: bundle}
	if change != nil {
		change(&cfg)
	}

	s := New(c, cfg)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { s.Close() })
	p := &provider{Server: s, t: t, key: key, client: client(s)}
	p.good = p.bearer(nil)

	return p
}

func client(s *Server) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA())

	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

func (p *provider) bearer(change func(*jwt.Token)) string {
	p.t.Helper()
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": team, "iat": start.Add(-time.Minute).Unix()})

	t.Header["kid"] = keyID
	if change != nil {
		change(t)
	}

	signed, err := t.SignedString(p.key)
	if err != nil {
		p.t.Fatal(err)
	}

	return "bearer " + signed
}

type reply struct {
	Status    int
	Reason    string `json:"reason"`
	Detail    string `json:"detail"`
	Timestamp int64  `json:"timestamp"`
	header    http.Header
	body      []byte
}

// do makes a request with these header fields, by name and value, beside a
// good authorization unless they have one.
func (p *provider) do(method, path, body string, fields ...string) (r reply, err error) {
	p.t.Helper()

	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL()+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}

	for i := 0; i < len(fields); i += 2 {
		req.Header.Add(fields[i], fields[i+1])
	}

	if _, ok := req.Header["Authorization"]; !ok {
		req.Header.Set("authorization", p.good)
	}

	resp, err := p.client.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()

	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return r, err
	}

	_ = json.Unmarshal(b.Bytes(), &r)
	r.Status, r.header, r.body = resp.StatusCode, resp.Header, b.Bytes()

	return r, nil
}

func activityPush(event string, at time.Time, more string) string {
	return fmt.Sprintf(`{"aps":{"timestamp":%d,"event":%q,"content-state":{"at":%d}%s}}`, at.Unix(), event, at.Unix(), more)
}

// push sends a Live Activity push.
func (p *provider) push(token, body string, fields ...string) reply {
	p.t.Helper()

	r, err := p.do("POST", "/3/device/"+token, body, append(fields, "apns-topic", topic, "apns-push-type", "liveactivity")...)
	if err != nil {
		p.t.Fatal(err)
	}

	return r
}

func TestChecks(t *testing.T) {
	t.Parallel()
	eachServer(t, checks)
}

// eachServer tests the answers by net/http's server, and by that of Config.InTurn.
func eachServer(t *testing.T, test func(t *testing.T, inTurn bool)) {
	for _, inTurn := range []bool{false, true} {
		t.Run(fmt.Sprintf("InTurn=%t", inTurn), func(t *testing.T) {
			t.Parallel()
			test(t, inTurn)
		})
	}
}

func checks(t *testing.T, inTurn bool) {
	p := serve(t, clock.New(start, clock.Free), func(c *Config) {
		c.InTurn = inTurn
		c.ContentState = func(b []byte) error {
			if bytes.Contains(b, []byte("wrong")) {
				return errors.New("no field wrong")
			}

			return nil
		}
	})
	live := []string{"apns-topic", topic, "apns-push-type", "liveactivity"}
	alert := []string{"apns-topic", bundle, "apns-push-type", "alert"}
	with := func(a []string, b ...string) []string { return append(slices.Clone(a), b...) }
	update, hello := activityPush("update", start, ""), `{"aps":{"alert":"hello"}}`
	issued := func(at time.Time) string {
		return p.bearer(func(t *jwt.Token) { t.Claims.(jwt.MapClaims)["iat"] = at.Unix() })
	}

	device := "/3/device/" + token
	for _, test := range []struct {
		name, path, body string
		fields           []string
		status           int
		reason           string
	}{
		{"no token", device, update, with(live, "authorization", ""), 403, "MissingProviderToken"},
		{"nonsense token", device, update, with(live, "authorization", "bearer x.y.z"), 403, "InvalidProviderToken"},
		{"other team", device, update, with(live, "authorization", p.bearer(func(t *jwt.Token) { t.Claims.(jwt.MapClaims)["iss"] = "OTHER" })),
			403, "InvalidProviderToken"},
		{"other key id", device, update, with(live, "authorization", p.bearer(func(t *jwt.Token) { t.Header["kid"] = "OTHER" })),
			403, "InvalidProviderToken"},
		{"no issue time", device, update, with(live, "authorization", p.bearer(func(t *jwt.Token) { delete(t.Claims.(jwt.MapClaims), "iat") })),
			403, "InvalidProviderToken"},
		{"issued tomorrow", device, update, with(live, "authorization", issued(start.Add(24*time.Hour))), 403, "InvalidProviderToken"},
		{"issued long ago", device, update, with(live, "authorization", issued(start.Add(-61*time.Minute))), 403, "ExpiredProviderToken"},
		{"update", device, update, live, 200, ""},
		{"other token at once", device, update, with(live, "authorization", issued(start)), 429, "TooManyProviderTokenUpdates"},
		{"no path", "/", update, live, 404, "BadPath"},
		{"no device", "/3/device/", update, live, 400, "MissingDeviceToken"},
		{"no device at all", "/3/device", update, live, 400, "MissingDeviceToken"},
		{"not hexadecimal", "/3/device/" + strings.Repeat("xy", 32), update, live, 400, "BadDeviceToken"},
		{"short", "/3/device/abcd", update, live, 400, "BadDeviceToken"},
		{"no topic", device, update, live[2:], 400, "MissingTopic"},
		{"plain topic", device, update, []string{"apns-topic", bundle, "apns-push-type", "liveactivity"}, 400, "BadTopic"},
		{"other app", device, hello, []string{"apns-topic", "app.other", "apns-push-type", "alert"}, 400, "TopicDisallowed"},
		{"odd type", device, hello, []string{"apns-topic", bundle, "apns-push-type", "shout"}, 400, "InvalidPushType"},
		{"odd priority", device, update, with(live, "apns-priority", "7"), 400, "BadPriority"},
		{"urgent background", device, hello, []string{"apns-topic", bundle, "apns-push-type", "background", "apns-priority", "10"},
			400, "BadPriority"},
		{"odd expiration", device, update, with(live, "apns-expiration", "soon"), 400, "BadExpirationDate"},
		{"expires at once", device, update, with(live, "apns-expiration", "0"), 200, ""},
		{"long collapse id", device, hello, with(alert, "apns-collapse-id", strings.Repeat("x", 65)), 400, "BadCollapseId"},
		{"odd id", device, update, with(live, "apns-id", "7"), 400, "BadMessageId"},
		{"two topics", device, update, with(live, "apns-topic", topic), 400, "DuplicateHeaders"},
		{"empty", device, "", live, 400, "PayloadEmpty"},
		{"large", device, strings.Repeat("x", 4097), live, 413, "PayloadTooLarge"},
		{"not JSON", device, `{"aps":`, live, 400, "BadPayload"},
		{"duplicate keys", device, `{"aps":{},"aps":{}}`, live, 400, "BadPayload"},
		{"no timestamp", device, `{"aps":{"event":"update","content-state":{}}}`, live, 400, "BadPayload"},
		{"odd event", device, activityPush("begin", start, ""), live, 400, "BadPayload"},
		{"no state", device, `{"aps":{"timestamp":1,"event":"end"}}`, live, 400, "BadPayload"},
		{"dismissed update", device, activityPush("update", start, `,"dismissal-date":1`), live, 400, "BadPayload"},
		{"start without attributes", device, activityPush("start", start, `,"alert":"x"`), live, 400, "BadPayload"},
		{"undecodable", device, `{"aps":{"timestamp":1,"event":"update","content-state":{"wrong":1}}}`, live, 400, "BadPayload"},
		{"alert for an activity's token", device, hello, alert, 400, "DeviceTokenNotForTopic"},
		{"alert", "/3/device/" + strings.Repeat("b2", 32), hello, alert, 200, ""},
	} { // in order, on one connection
		got, err := p.do("POST", test.path, test.body, test.fields...)
		if err != nil || got.Status != test.status || got.Reason != test.reason {
			t.Errorf("%s: %d %s %s, %v; want %d %s", test.name, got.Status, got.Reason, got.Detail, err, test.status, test.reason)
		}

		if test.reason == "BadPayload" && got.Detail == "" {
			t.Errorf("%s: no detail", test.name)
		}
	}

	if got, _ := p.do("GET", device, ""); got.Status != 405 || got.Reason != "MethodNotAllowed" {
		t.Errorf("GET: %+v", got)
	}

	id := "123e4567-e89b-12d3-a456-426655440000"
	if got := p.push(token, update, "apns-id", id); got.header.Get("apns-id") != id {
		t.Errorf("apns-id %q", got.header.Get("apns-id"))
	}

	if got := p.push(token, update); !isUUID(got.header.Get("apns-id")) {
		t.Errorf("apns-id %q", got.header.Get("apns-id"))
	}
}

// TestBundles: one server accepts the pushes for all apps of a team, and a token
// belongs to one app.
func TestBundles(t *testing.T) {
	t.Parallel()

	const other = bundle + ".pickem"

	p := serve(t, clock.New(start, clock.Free), func(c *Config) { c.Others = []string{"org.matchday", other} })
	mine, theirs := "/3/device/"+strings.Repeat("a1", 32), "/3/device/"+strings.Repeat("b2", 32)

	const hello = `{"aps":{"alert":"hello"}}`
	for _, test := range []struct {
		name, path, topic, kind string
		status                  int
		reason                  string
	}{
		{"the first app", mine, bundle, "alert", 200, ""},
		{"another", theirs, other, "alert", 200, ""},
		{"another's background", theirs, other, "background", 200, ""},
		{"one's token for another", mine, other, "alert", 400, "DeviceTokenNotForTopic"},
		{"and the other way round", theirs, bundle, "alert", 400, "DeviceTokenNotForTopic"},
		{"another's activities", theirs, other + ".push-type.liveactivity", "alert", 400, "BadTopic"},
		{"what begins like two", theirs, other + "s", "alert", 400, "BadTopic"},
		{"another team's", theirs, "org.other", "alert", 400, "TopicDisallowed"},
	} {
		got, err := p.do("POST", test.path, hello, "apns-topic", test.topic, "apns-push-type", test.kind, "apns-priority", "5")
		if err != nil || got.Status != test.status || got.Reason != test.reason {
			t.Errorf("%s: %d %s %s, %v; want %d %s", test.name, got.Status, got.Reason, got.Detail, err, test.status, test.reason)
		}
	}

	for path, want := range map[string]Device{mine: {Bundle: bundle, Pushes: 1}, theirs: {Bundle: other, Pushes: 2}} {
		if d, ok := p.Device(strings.TrimPrefix(path, "/3/device/")); !ok || d.Bundle != want.Bundle || d.Pushes != want.Pushes {
			t.Errorf("%s is of %s and has %d pushes, want %s and %d", path, d.Bundle, d.Pushes, want.Bundle, want.Pushes)
		}
	}
}

func TestProviderTokenMayChangeAfterTwentyMinutes(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	p := serve(t, c, nil)
	fresh := func(at time.Time) string {
		return p.bearer(func(t *jwt.Token) { t.Claims.(jwt.MapClaims)["iat"] = at.Unix() })
	}
	update := activityPush("update", start, "")
	p.push(token, update, "authorization", fresh(start))

	for _, test := range []struct {
		after  time.Duration
		status int
	}{{19 * time.Minute, 429}, {21 * time.Minute, 200}} {
		at := start.Add(test.after)
		there := make(chan struct{})

		c.At(at, func() { close(there) })
		<-there

		if got := p.push(token, update, "authorization", fresh(at)); got.Status != test.status {
			t.Errorf("a new token after %v: %+v", test.after, got)
		}
	}
}

func TestOneStreamUntilAValidToken(t *testing.T) {
	t.Parallel()
	p := serve(t, clock.New(start, clock.Free), nil)

	l := &connection{}
	if !l.beginRequest() || l.beginRequest() {
		t.Error("a new connection has not one stream")
	}

	if no := p.authorize(l, []string{p.bearer(nil)}, start); no != nil {
		t.Fatalf("%+v", no)
	}

	if second, third := l.beginRequest(), l.beginRequest(); !second || !third {
		t.Error("a connection with a valid token has not many streams")
	}
}

// Phones show the newest state, whatever the order of arrival, until the end.
func TestPhoneShowsTheNewest(t *testing.T) {
	t.Parallel()

	s := New(clock.New(start, clock.Free), Config{Bundle: bundle})
	round := 0

	rapid.Check(t, func(t *rapid.T) {
		round++
		token := strconv.Itoa(round)
		newest, outdated := int64(0), 0

		for _, at := range rapid.SliceOfN(rapid.Int64Range(1, 50), 1, 20).Draw(t, "timestamps") {
			p, no := s.parse([]byte(activityPush("update", time.Unix(at, 0), "")), true)
			if no != nil {
				t.Fatal(no.detail)
			}

			if no := s.deliver(token, bundle, "liveactivity", "", p, start); no != nil {
				t.Fatal(no.reason)
			}

			if at < newest {
				outdated++
			}

			newest = max(newest, at)

			d, _ := s.Device(token)
			if d.Timestamp.Unix() != newest || string(d.State) != fmt.Sprintf(`{"at":%d}`, newest) || d.Outdated != outdated {
				t.Fatalf("after %d it shows %s, %d outdated; want %d, %d", at, d.State, d.Outdated, newest, outdated)
			}
		}
	})
}

func TestEndAndDismissal(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		more string
		gone time.Duration
	}{
		"by default":  {"", 4 * time.Hour},
		"soon":        {fmt.Sprintf(`,"dismissal-date":%d`, start.Add(time.Minute).Unix()), time.Minute},
		"at once":     {`,"dismissal-date":1`, 0},
		"at most 4 h": {fmt.Sprintf(`,"dismissal-date":%d`, start.Add(9*time.Hour).Unix()), 4 * time.Hour},
	} {
		p := serve(t, clock.New(start, clock.Free), nil)
		p.push(token, activityPush("end", start, test.more))
		p.push(token, activityPush("update", start.Add(time.Second), ""))

		d, _ := p.Device(token)
		if !d.Ended || d.AfterEnd != 1 || d.Timestamp != start || d.Visible(start.Add(test.gone)) ||
			test.gone > 0 && !d.Visible(start.Add(test.gone-1)) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAlertsCollapse(t *testing.T) {
	t.Parallel()

	p := serve(t, clock.New(start, clock.Free), nil)
	for _, push := range [][2]string{{"toss", "a"}, {"wicket", "b"}, {"toss", "c"}, {"", "d"}, {"", "d"}} {
		r, err := p.do("POST", "/3/device/"+token, `{"aps":{"alert":{"title":"T","body":"`+push[1]+`"},"sound":"default"}}`,
			"apns-topic", bundle, "apns-collapse-id", push[0])
		if err != nil || r.Status != 200 {
			t.Fatalf("%+v, %v", r, err)
		}
	}

	d, _ := p.Device(token)

	var got []string
	for _, a := range d.Alerts {
		got = append(got, fmt.Sprint(a.Collapse, a.Body, a.Times, a.Sound))
	}

	if want := []string{"tossc2default", "wicketb1default", "d1default", "d1default"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestScript(t *testing.T) {
	t.Parallel()

	since := start.Add(-time.Hour)
	gone := Refuse("Unregistered")
	gone.Since = since

	var seen []Push

	p := serve(t, clock.New(start, clock.Free), func(c *Config) { c.Observe = func(p Push) { seen = append(seen, p) } })
	update := activityPush("update", start, "")
	lost := Refuse("InternalServerError")
	lost.Times, lost.Applied = 1, true
	p.Answer(token, lost, gone)

	if r := p.push(token, update); r.Status != 500 {
		t.Errorf("%+v", r)
	}

	if d, _ := p.Device(token); d.Pushes != 1 {
		t.Error("the phone did not get what was applied")
	}

	for range 2 {
		if r := p.push(token, update); r.Status != 410 || r.Timestamp != since.UnixMilli() {
			t.Errorf("%+v", r)
		}
	}

	p.Answer(token)

	if r := p.push(token, update); r.Status != 200 {
		t.Errorf("%+v", r)
	}

	want := Push{
		Token:  "a1a1a1a1",
		Type:   "liveactivity",
		Event:  "update",
		Bytes:  len(update),
		Time:   start,
		Status: 410,
		Reason: "Unregistered",
	}
	if len(seen) != 4 || seen[1] != want {
		t.Errorf("observed %+v", seen)
	}

	p.Answer("", Answer{Drop: true, Times: 1})

	if _, err := p.do("POST", "/3/device/"+token, update, "apns-topic", topic, "apns-push-type", "liveactivity"); err == nil {
		t.Error("a dropped connection answered")
	}

	p.Answer("", Answer{Slow: time.Hour, GoAway: true, Times: 1})
	p.push(token, update)

	if now := p.clock.Now(); now.Sub(start) != time.Hour {
		t.Errorf("a slow answer took %v", now.Sub(start))
	}

	if c := p.Counts(); c["Unregistered"] != 2 || c["GoAway"] != 1 || c["Drop"] != 1 {
		t.Errorf("%v", c)
	}
}

func TestChaosIsTheSameEachTime(t *testing.T) {
	t.Parallel()

	c := Chaos{Seed: 3, Unregistered: 0.1, Internal: 0.2, Drop: 0.1}
	got := map[string]int{}

	for i := range 1000 {
		token := strconv.Itoa(i)

		first := c.answer(token, start)
		if first != c.answer(token, start) {
			t.Fatal("the same push got two different answers")
		}

		if first.Reason == "Unregistered" && c.answer(token, start.Add(time.Second)).Reason != "Unregistered" {
			t.Fatal("an invalid token became valid again")
		}

		got[first.Reason]++
		if first.Drop {
			got["Drop"]++
		}
	}

	for what, want := range map[string]int{"Unregistered": 100, "InternalServerError": 180, "Drop": 90} {
		if got[what] < want-40 || got[what] > want+40 {
			t.Errorf("%d of 1000 pushes got %s, want about %d", got[what], what, want)
		}
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	eachServer(t, channels)
}

func channels(t *testing.T, inTurn bool) {
	p := serve(t, clock.New(start, clock.Free), func(c *Config) { c.InTurn = inTurn })

	const path = "/1/apps/" + bundle

	do := func(method, what, body string, status int, reason string, fields ...string) reply {
		t.Helper()

		r, err := p.do(method, what, body, fields...)
		if err != nil || r.Status != status || r.Reason != reason {
			t.Fatalf("%s %s: %d %s %s, %v", method, what, r.Status, r.Reason, r.Detail, err)
		}

		return r
	}
	live := do("POST", path+"/channels", `{"message-storage-policy":0,"push-type":"LiveActivity"}`, 201, "").header.Get("apns-channel-id")
	kept := do("POST", path+"/channels", `{"message-storage-policy":1,"push-type":"LiveActivity"}`, 201, "").header.Get("apns-channel-id")
	do("POST", path+"/channels", `{"message-storage-policy":2}`, 400, "BadPayload")
	do("POST", path+"/channels", `{"message-storage-policy":0,"push-type":"Alert"}`, 400, "InvalidPushType")

	if r := do("GET", path+"/channels", "", 200, "", "apns-channel-id",
		kept); string(r.body) != `{"message-storage-policy":1,"push-type":"LiveActivity"}` {
		t.Errorf("%s", r.body)
	}

	do("GET", path+"/channels", "", 400, "MissingChannelId")
	do("GET", path+"/channels", "", 400, "BadChannelId", "apns-channel-id", "!")

	const send = "/4/broadcasts/apps/" + bundle

	update := activityPush("update", start, "")
	to := func(id string, more ...string) []string {
		return append([]string{"apns-channel-id", id, "apns-push-type", "liveactivity"}, more...)
	}
	hour := strconv.FormatInt(start.Add(time.Hour).Unix(), 10)

	if !p.Subscribe(token, live) || p.Subscribe(token, "bm9uZQ==") {
		t.Error("subscription")
	}

	do("POST", send, update, 200, "", to(live, "apns-expiration", "0")...)
	do("POST", send, update, 400, "BadExpirationDate", to(live, "apns-expiration", hour)...)
	do("POST", send, update, 400, "BadExpirationDate", to(live)...)
	do("POST", send, update, 400, "MissingChannelId", "apns-push-type", "liveactivity", "apns-expiration", "0")
	do("POST", send, update, 400, "MissingPushType", "apns-channel-id", live, "apns-expiration", "0")
	do("POST", send, strings.Repeat("x", 5121), 413, "PayloadTooLarge", to(live, "apns-expiration", "0")...)
	do("POST", send, activityPush("start", start, `,"alert":"x","attributes-type":"M","attributes":{}`), 400, "BadPayload",
		to(live, "apns-expiration", "0")...)
	do("POST", send, update, 200, "", to(kept, "apns-expiration", hour)...)

	late := strings.Repeat("c3", 32)
	p.Subscribe(late, kept)

	for _, token := range []string{token, late} {
		if d, _ := p.Device(token); string(d.State) != fmt.Sprintf(`{"at":%d}`, start.Unix()) {
			t.Errorf("%s shows %s", short(token), d.State)
		}
	}

	do("DELETE", path+"/channels", "", 204, "", "apns-channel-id", live)
	do("POST", send, update, 400, "ChannelNotRegistered", to(live, "apns-expiration", "0")...)

	if r := do("GET", path+"/all-channels", "", 200, ""); string(r.body) != `{"channels":["`+kept+`"]}` {
		t.Errorf("%s", r.body)
	}

	if d, _ := p.Device(token); d.Channel != "" {
		t.Error("a phone listens to a deleted channel")
	}
}

func TestAuthorityIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(c *Config) { c.Dir = dir }
	first := serve(t, clock.New(start, clock.Free), keep)

	second := serve(t, clock.New(start, clock.Free), keep)
	if !bytes.Equal(first.CA(), second.CA()) {
		t.Error("the second run has another certificate authority")
	}

	second.client = client(first.Server) // trusts the first run's authority
	if r := second.push(token, activityPush("update", start, "")); r.Status != 200 {
		t.Errorf("%+v", r)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(activityPush("update", start, `,"alert":{"title":"x"},"sound":"default"`)), true)
	f.Add([]byte(`{"aps":{"alert":"x","sound":{"name":"y"}}}`), false)
	f.Fuzz(func(t *testing.T, body []byte, activity bool) {
		s := New(clock.New(start, clock.Free), Config{Bundle: bundle})

		p, no := s.parse(body, activity)
		if no == nil {
			_ = s.deliver(token, bundle, "liveactivity", "", p, start)
		} else if no.reason == "" || no.status == 0 {
			t.Errorf("%+v", no)
		}
	})
}

// At one instant a token gets at most one random fault, whatever the number of retries.
func TestChaosStrikesOncePerInstant(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	p := serve(t, c, nil)
	update := activityPush("update", start, "")
	statuses := func() (got []int) {
		for range 3 {
			got = append(got, p.push(token, update).Status)
		}

		return got
	}
	pass := func() {
		passed := make(chan struct{})

		c.After(time.Second, func() { close(passed) })
		<-passed
	}

	p.Chaos(Chaos{Seed: 1, Internal: 1})

	for range 2 {
		if got := statuses(); !slices.Equal(got, []int{500, 200, 200}) {
			t.Errorf("%v", got)
		}

		pass()
	}

	p.Chaos(Chaos{Seed: 1, Outage: 1})

	if got := statuses(); !slices.Equal(got, []int{503, 503, 503}) {
		t.Errorf("an outage: %v", got)
	}

	pass()
	p.Chaos(Chaos{Seed: 1, GoAway: 1})

	if got := statuses(); !slices.Equal(got, []int{200, 200, 200}) {
		t.Errorf("before a connection ends: %v", got)
	}

	if got := p.ChaosCounts(); !maps.Equal(got, map[string]int{"500": 2, "outage": 1, "GOAWAY": 1}) {
		t.Errorf("struck %v", got)
	}
}

// The activities that pushes begin have the same tokens in whatever order they
// begin.
func TestStartsInAnyOrder(t *testing.T) {
	t.Parallel()

	begin := func(of ...string) map[string]string {
		started := make(chan Start, len(of))
		p := serve(t, clock.New(start, clock.Free), func(c *Config) { c.Started = func(s Start) { started <- s } })
		tokens := map[string]string{}

		for n, match := range of {
			if r := p.push(token, activityPush("start", start,
				`,"alert":"x","attributes-type":"M","attributes":{"match":`+match+`}`)); r.Status != 200 {
				t.Fatalf("%+v", r)
			}

			s := <-started
			tokens[fmt.Sprint(string(s.Attributes), slices.Index(of, match) < n)] = s.Update
		}

		return tokens
	}

	one, other := begin("1", "2", "1"), begin("2", "1", "1")
	if len(one) != 3 || !maps.Equal(one, other) {
		t.Errorf("%v, and in another order %v", one, other)
	}
}

// Two states of one second are in no order: the later arrival wins, and that is
// counted. So is an alert that comes again at another time.
func TestStatesOfTheSameSecond(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	p := serve(t, c, nil)
	p.push(token, activityPush("update", start, ""))
	p.push(token, activityPush("update", start, ""))

	if d, _ := p.Device(token); d.Replaced != 0 {
		t.Errorf("the same state again counts as another: %d", d.Replaced)
	}

	p.push(token, strings.Replace(activityPush("update", start, ""), `"content-state":{`, `"content-state":{"other":1,`, 1))

	if d, _ := p.Device(token); d.Replaced != 1 {
		t.Errorf("%d states replaced one of their second, want 1", d.Replaced)
	}

	const phone = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"

	ring := func() {
		if _, err := p.do("POST", "/3/device/"+phone, `{"aps":{"alert":"x"}}`, "apns-topic", bundle, "apns-collapse-id", "w1"); err != nil {
			t.Fatal(err)
		}
	}
	ring()
	ring()

	passed := make(chan struct{})

	c.After(time.Second, func() { close(passed) })
	<-passed
	ring()

	if d, _ := p.Device(phone); len(d.Alerts) != 1 || d.Alerts[0].Times != 3 || d.Alerts[0].Again != 1 ||
		!d.Alerts[0].First.Equal(start) || !d.Alerts[0].Time.Equal(start.Add(time.Second)) {
		t.Errorf("%+v", d.Alerts)
	}
}
