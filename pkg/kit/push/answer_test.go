package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/sim/apns"
	"matchday/pkg/kit/push/h2conn"
)

// TestReasonsOfAnswers: the reason of a refusal is in its body. A body that is not Apple's says
// nothing, in whole or in part.
func TestReasonsOfAnswers(t *testing.T) {
	t.Parallel()

	type content struct {
		Reason string
		Since  time.Time
	}
	for body, want := range map[string]content{
		"":                      {},
		`{"reason":"BadTopic"}`: {Reason: "BadTopic"},
		`{"reason":"Unregistered","timestamp":1780317000123}`: {"Unregistered", start.Add(123 * time.Millisecond)},
		`{"reason":"ExpiredToken","timestamp":0}`:             {Reason: "ExpiredToken"},
		`{"reason":"BadTopic","timestamp":"noon"}`:            {},
		`<html>busy`: {},
	} {
		a := read(h2conn.Answer{Body: []byte(body)})
		if diff := cmp.Diff(want, content{a.reason, a.since}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestStepsByStatus: the status decides if the reason is unknown.
func TestStepsByStatus(t *testing.T) {
	t.Parallel()

	for a, want := range map[[2]any]step{
		{200, ""}:                         done,
		{201, ""}:                         done,
		{204, ""}:                         done,
		{299, ""}:                         done,
		{300, ""}:                         stop,
		{199, ""}:                         stop,
		{410, "New"}:                      unregister,
		{410, ""}:                         unregister,
		{429, "New"}:                      later,
		{500, ""}:                         later,
		{503, "New"}:                      later,
		{499, "New"}:                      stop,
		{400, "New"}:                      pass,
		{400, ""}:                         stop,
		{403, "New"}:                      stop,
		{404, "BadPath"}:                  stop,
		{405, ""}:                         stop,
		{413, ""}:                         stop,
		{410, apns2.ReasonUnregistered}:   unregister,
		{410, apns2.ReasonExpiredToken}:   unregister,
		{400, apns2.ReasonBadDeviceToken}: unregister,
		{400, apns2.ReasonDeviceTokenNotForTopic}: unregister,
		{400, apns2.ReasonIdleTimeout}:            reconnect,
		{403, "UnrelatedKeyIdInToken"}:            reconnect,
		{403, apns2.ReasonExpiredProviderToken}:   remint,
		{429, "TooManyProviderTokenUpdates"}:      later,
	} {
		if got := (answer{Answer: h2conn.Answer{Status: a[0].(int)}, reason: a[1].(string)}).next(); got != want {
			t.Errorf("%v: step %d, want %d", a, got, want)
		}
	}
	// What only we can have caused, in Apple's words.
	for _, reason := range []string{
		"BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders", "InvalidPushType",
		"MissingDeviceToken", "MissingTopic",
		"PayloadEmpty", "TopicDisallowed", "MissingPushType", "MissingChannelId", "BadChannelId", "ChannelNotRegistered",
		"CannotCreateChannelConfig", "FeatureNotEnabled",
	} {
		if got := (answer{Answer: h2conn.Answer{Status: 400}, reason: reason}).next(); got != stop {
			t.Errorf("400 %s: step %d, want the end of the run", reason, got)
		}
	}

	if got, want := (&Refused{400, "BadTopic"}).Error(), "push: APNs answered 400 BadTopic"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEndpoints: each service of Apple's has its host, in production and in the sandbox. Others
// serve all at one.
func TestEndpoints(t *testing.T) {
	t.Parallel()

	for given, want := range map[[3]string][3]string{
		{}: {"api.push.apple.com", "api.push.apple.com", "api-manage-broadcast.push.apple.com:2196"},
		{apns2.HostDevelopment}: {"api.sandbox.push.apple.com", "api.sandbox.push.apple.com",
			"api-manage-broadcast.sandbox.push.apple.com:2195"},
		{"https://a:1"}:                  {"a:1", "a:1", "a:1"},
		{"https://a:1", "https://b"}:     {"a:1", "b", "a:1"},
		{"https://a:1", "", "https://c"}: {"a:1", "a:1", "c"},
	} {
		s, err := Open(Config{
			TeamID:            team,
			KeyID:             keyID,
			Bundle:            bundle,
			Key:               newKey(t),
			Now:               time.Now,
			Endpoint:          given[0],
			BroadcastEndpoint: given[1],
			ManageEndpoint:    given[2],
		})
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, [3]string{s.clients[0].Host, s.broadcast.Host, s.manage.Host}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", given, diff)
		}

		if s.cfg.Connections != 4 || len(s.clients) != 4 || s.cfg.InFlight != 200 || s.cfg.Backoff != 200*time.Millisecond ||
			s.cfg.AnswerTimeout != 5*time.Second || s.cfg.DialTimeout != 5*time.Second || s.cfg.Key != nil || s.cfg.PEM != nil {
			t.Errorf("%q: the sender has %+v", given, s.cfg)
		}
	}
}

// TestKeyThatSignsNoMore: a push for which no new provider token can be signed is to be sent
// again later.
func TestKeyThatSignsNoMore(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	to := tokens(1)
	server.Answer(to[0], times(0, apns.Refuse(apns2.ReasonExpiredProviderToken))...)

	if err := s.Ready(t.Context()); err != nil { // with the token of the key
		t.Fatal(err)
	}

	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	s.provider.mu.Lock()
	s.provider.key = other
	s.provider.mu.Unlock()
	got, counts, err := send(t, s, alert(t), to)

	want := Outcome{Result: Requeue, Reason: apns2.ReasonExpiredProviderToken}
	if got[to[0]] != want || counts.Retries != 0 || err != nil {
		t.Errorf("got %+v after %d retries, %v; want %+v", got[to[0]], counts.Retries, err, want)
	}
}

// TestKeysThatSignNothing: a key that is none of ECDSA on P-256.
func TestKeysThatSignNothing(t *testing.T) {
	t.Parallel()
	odd := newKey(t)
	params := *elliptic.P256().Params()

	odd.Curve = &params // of the same size, and not one that signs
	for name, key := range map[string]any{"another curve": odd, "another kind": "secret"} {
		if sig, err := (es256{jwt.SigningMethodES256}).Sign("text", key); err == nil || sig != nil {
			t.Errorf("%s: signed %x", name, sig)
		}
	}

	sig, err := es256{jwt.SigningMethodES256}.Sign("text", newKey(t))
	if err != nil || len(sig) != 64 {
		t.Errorf("a signature of %d bytes, %v, want 64", len(sig), err)
	}
}

// TestChannelsOfAnApp: the calls by which channels are managed, and answers that are none.
func TestChannelsOfAnApp(t *testing.T) {
	t.Parallel()

	var calls []string

	body := ""
	s := senderWith(t, func(w http.ResponseWriter, r *http.Request) {
		var in json.RawMessage

		_ = json.NewDecoder(r.Body).Decode(&in)
		calls = append(calls, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("apns-channel-id"), " ",
			r.Header.Get("Content-Type"), " ", string(in)))
		w.Header().Set("apns-channel-id", "c9")

		switch {
		case strings.HasPrefix(body, `{"reason"`):
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
		}

		_, _ = w.Write([]byte(body))
	}, func(c *Config) *string { return &c.ManageEndpoint })

	ctx := t.Context()
	for keep := range 2 {
		if id, err := s.CreateChannel(ctx, Keep(keep)); id != "c9" || err != nil {
			t.Errorf("created %q, %v", id, err)
		}
	}

	if err := s.DeleteChannel(ctx, "c9"); err != nil {
		t.Error(err)
	}

	for _, c := range []struct {
		body string
		want []string
		err  string
	}{
		{`{"channels":["a","b"]}`, []string{"a", "b"}, ""},
		{`{"channels":"a"}`, nil, "push: read the list of channels: "},
		{`{"reason":"InvalidProviderToken"}`, nil, "push: APNs answered 403 InvalidProviderToken"},
	} {
		body = c.body

		got, err := s.Channels(ctx)
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q (-want +got):\n%s", c.body, err, c.err, diff)
		}
	}

	body = `{"reason":"FeatureNotEnabled"}`

	if err := s.DeleteChannel(ctx, "c9"); !errors.As(err, new(*Refused)) {
		t.Errorf("a refused deletion: %v", err)
	}

	const at = "/1/apps/app.matchday/"

	want := []string{
		"POST " + at + `channels  application/json {"message-storage-policy":0,"push-type":"LiveActivity"}`,
		"POST " + at + `channels  application/json {"message-storage-policy":1,"push-type":"LiveActivity"}`,
		"DELETE " + at + "channels c9 application/json ",
		"GET " + at + "all-channels  application/json ", "GET " + at + "all-channels  application/json ",
		"GET " + at + "all-channels  application/json ",
		"DELETE " + at + "channels c9 application/json ",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
