package strava_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/commitcollect/strava"
)

// at is the time of the tests: 6 min 30 s before the next quarter of an hour.
var at = time.Date(2026, 6, 6, 20, 8, 30, 0, time.UTC)

// open returns a client of a server that answers every request with answer.
func open(t *testing.T, answer http.HandlerFunc) *strava.Client {
	t.Helper()

	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)

	return strava.Open(server.URL+"/", strava.App{ID: "4711", Secret: "app-s3cret"}, server.Client().Transport,
		func() time.Time { return at.In(time.FixedZone("", 3600)) })
}

// calls are the calls of the client, by name.
var calls = map[string]func(context.Context, *strava.Client) (any, error){
	"Exchange": func(ctx context.Context, c *strava.Client) (any, error) { return c.Exchange(ctx, "c0de") },
	"Refresh":  func(ctx context.Context, c *strava.Client) (any, error) { return c.Refresh(ctx, "r1") },
	"Revoke":   func(ctx context.Context, c *strava.Client) (any, error) { return nil, c.Revoke(ctx, "r1") },
	"Activity": func(ctx context.Context, c *strava.Client) (any, error) { return c.Activity(ctx, "a1", "5/6") },
	"Activities": func(ctx context.Context, c *strava.Client) (any, error) {
		return c.Activities(ctx, "a1", at, 3)
	},
	"Subscribe": func(ctx context.Context, c *strava.Client) (any, error) {
		return c.Subscribe(ctx, "https://app.test/hook", "v3rify")
	},
	"Subscriptions": func(ctx context.Context, c *strava.Client) (any, error) { return c.Subscriptions(ctx) },
	"Unsubscribe":   func(ctx context.Context, c *strava.Client) (any, error) { return nil, c.Unsubscribe(ctx, 9) },
}

// TestRequests: each call as Strava documents it, and what its answer becomes.
func TestRequests(t *testing.T) {
	t.Parallel()

	const app = "client_id=4711&client_secret=app-s3cret"

	token := strava.Token{Access: "a2", Refresh: "r2", ExpiresAt: 1780754400}
	whose := token

	whose.Athlete.ID = 77
	for name, c := range map[string]struct {
		want, form, access string // the request
		status             int
		body               string
		got                any
	}{
		"Exchange": {
			"POST /oauth/token", app + "&code=c0de&grant_type=authorization_code", "",
			200, `{"access_token":"a2","refresh_token":"r2","expires_at":1780754400,"athlete":{"id":77}}`, whose,
		},
		"Refresh": {
			"POST /oauth/token", app + "&grant_type=refresh_token&refresh_token=r1", "",
			200, `{"access_token":"a2","refresh_token":"r2","expires_at":1780754400}`, token,
		},
		"Revoke": {"POST /oauth/revoke", "token=r1", "Basic NDcxMTphcHAtczNjcmV0", 200, "", nil},
		"Activity": {"GET /api/v3/activities/5%2F6?include_all_efforts=false", "", "Bearer a1", 200, `{"id":5,"distance":1.5,"new":[]}`,
			strava.Activity{ID: 5, Distance: 1.5}},
		"Activities": {fmt.Sprintf("GET /api/v3/athlete/activities?after=%d&page=3&per_page=200", at.Unix()), "", "Bearer a1", 200,
			`[{"id":5},{"id":6}]`, []strava.Activity{{ID: 5}, {ID: 6}}},
		"Subscribe": {"POST /api/v3/push_subscriptions", "callback_url=https%3A%2F%2Fapp.test%2Fhook&" + app + "&verify_token=v3rify", "",
			201, `{"id":9}`, strava.Subscription{ID: 9}},
		"Subscriptions": {"GET /api/v3/push_subscriptions?" + app, "", "", 200, `[{"id":9,"callback_url":"https://app.test/hook"}]`,
			[]strava.Subscription{{ID: 9, Callback: "https://app.test/hook"}}},
		"Unsubscribe": {"DELETE /api/v3/push_subscriptions/9?" + app, "", "", 204, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := open(t, func(w http.ResponseWriter, r *http.Request) {
				form, _ := io.ReadAll(r.Body)

				kind := ""
				if c.form != "" {
					kind = "application/x-www-form-urlencoded"
				}

				got := []string{r.Method + " " + r.URL.RequestURI(), string(form), r.Header.Get("Authorization"), r.Header.Get("Content-Type")}
				if diff := cmp.Diff([]string{c.want, c.form, c.access, kind}, got); diff != "" {
					t.Errorf("the request (-want +got):\n%s", diff)
				}

				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})

			got, err := calls[name](t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(c.got, got); diff != "" {
				t.Errorf("the result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKindsOfFailures: what a caller can do about an answer, and how long a limit lasts.
func TestKindsOfFailures(t *testing.T) {
	t.Parallel()

	const refusal = `{"message":"Bad Request","errors":[{"resource":"%s","field":"f","code":"invalid"}]}`

	wrong := func(resource string) string { return fmt.Sprintf(refusal, resource) }
	limits := func(kind, limit, usage string) map[string]string {
		return map[string]string{"X-" + kind + "-Limit": limit, "X-" + kind + "-Usage": usage}
	}

	const (
		quarter, midnight = 6*time.Minute + 30*time.Second, 3*time.Hour + 51*time.Minute + 30*time.Second
		activity          = "strava: GET /api/v3/activities/5%2F6: "
	)
	for name, c := range map[string]struct {
		call   string
		status int
		header map[string]string
		body   string
		want   strava.Error
	}{
		"a redirect": {"Activity", 302, map[string]string{"Location": "/elsewhere"}, "",
			strava.Error{Kind: strava.Unavailable, Status: 302, Msg: activity + "302 Found"}},
		"several choices": {"Activity", 300, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 300, Msg: activity + "300 Multiple Choices"}},
		"the last of redirects": {"Activity", 399, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 399, Msg: activity + "399 status code 399"}},
		"the last of refusals": {"Activity", 499, nil, "",
			strava.Error{Kind: strava.Invalid, Status: 499, Msg: activity + "499 status code 499"}},
		"a bad request": {"Activity", 400, nil, wrong("Activity"),
			strava.Error{Kind: strava.Invalid, Status: 400, Resource: "Activity", Msg: activity + "400 Bad Request"}},
		"no access": {"Activity", 401, nil, wrong("AccessToken"),
			strava.Error{Kind: strava.Unauthorized, Status: 401, Resource: "AccessToken", Msg: activity + "401 Unauthorized"}},
		"forbidden": {"Activity", 403, nil, "<html>",
			strava.Error{Kind: strava.Invalid, Status: 403, Msg: activity + "403 Forbidden"}},
		"not found": {"Activity", 404, nil, `{"errors":[]}`,
			strava.Error{Kind: strava.NotFound, Status: 404, Msg: activity + "404 Not Found"}},
		"a timeout": {"Activity", 408, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 408, Msg: activity + "408 Request Timeout"}},
		"the limit": {"Activity", 429, nil, "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: quarter, Msg: activity + "429 Too Many Requests"}},
		"the limit of a quarter": {"Activity", 429, limits("RateLimit", "200,2000", "200,1999"), "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: quarter, Msg: activity + "429 Too Many Requests"}},
		"the limit of a day": {"Activity", 429, limits("RateLimit", "200, 2000", "3, 2000"), "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: midnight, Msg: activity + "429 Too Many Requests"}},
		"the limit of reads a day": {"Activity", 429, limits("ReadRateLimit", "100,1000", "3,1001"), "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: midnight, Msg: activity + "429 Too Many Requests"}},
		"a limit without a use": {"Activity", 429, map[string]string{"X-RateLimit-Limit": "200,0"}, "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: quarter, Msg: activity + "429 Too Many Requests"}},
		"a use without a limit": {"Activity", 429, map[string]string{"X-RateLimit-Usage": "200,2000"}, "",
			strava.Error{Kind: strava.Limited, Status: 429, RetryAfter: quarter, Msg: activity + "429 Too Many Requests"}},
		"500": {"Activity", 500, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 500, Msg: activity + "500 Internal Server Error"}},
		"503": {"Activity", 503, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 503, Msg: activity + "503 Service Unavailable"}},
		"no JSON": {"Activity", 200, nil, "<html>",
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: activity + "the answer is not the JSON expected"}},
		"no activity": {"Activity", 200, nil, `{"name":"Run"}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer is no activity"}},
		"less than it announces": {"Activity", 200, map[string]string{"Content-Length": "90"}, `{"id":5}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: activity + "the answer is cut off: unexpected EOF"}},
		"more than 8 MB": {"Activity", 200, nil, `{"id":5}` + strings.Repeat(" ", 8<<20-7),
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: activity + "the answer is cut off"}},

		"a code without a token": {"Exchange", 200, nil, `{"refresh_token":"r","athlete":{"id":1}}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer with a token is incomplete"}},
		"a code without a refresh token": {"Exchange", 200, nil, `{"access_token":"a","athlete":{"id":1}}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer with a token is incomplete"}},
		"a code without an athlete": {"Exchange", 200, nil, `{"access_token":"a","refresh_token":"r"}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer with a token is incomplete"}},
		"a wrong code": {"Exchange", 400, nil, wrong("AuthorizationCode"),
			strava.Error{Kind: strava.Invalid, Status: 400, Resource: "AuthorizationCode", Msg: "strava: POST /oauth/token: 400 Bad Request"}},

		"a renewal without a token": {"Refresh", 200, nil, `{"refresh_token":"r"}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer with a token is incomplete"}},
		"a renewal without a refresh token": {"Refresh", 200, nil, `{"access_token":"a"}`,
			strava.Error{Kind: strava.Unavailable, Status: 200, Msg: "strava: the answer with a token is incomplete"}},
		"a wrong refresh token": {"Refresh", 400, nil, wrong("RefreshToken"),
			strava.Error{Kind: strava.Unauthorized, Status: 400, Resource: "RefreshToken", Msg: "strava: POST /oauth/token: 400 Bad Request"}},
		"a revoked refresh token": {"Refresh", 401, nil, wrong("RefreshToken"),
			strava.Error{Kind: strava.Unauthorized, Status: 401, Resource: "RefreshToken", Msg: "strava: POST /oauth/token: 401 Unauthorized"}},
		"our wrong id": {"Refresh", 400, nil, wrong("Application"),
			strava.Error{Kind: strava.Invalid, Status: 400, Resource: "Application", Msg: "strava: POST /oauth/token: 400 Bad Request"}},
		"a renewal refused without reason": {"Refresh", 401, nil, "",
			strava.Error{Kind: strava.Invalid, Status: 401, Msg: "strava: POST /oauth/token: 401 Unauthorized"}},
		"a renewal that is forbidden": {"Refresh", 403, nil, wrong("RefreshToken"),
			strava.Error{Kind: strava.Invalid, Status: 403, Resource: "RefreshToken", Msg: "strava: POST /oauth/token: 403 Forbidden"}},
		"a renewal that is not found": {"Refresh", 404, nil, "",
			strava.Error{Kind: strava.Invalid, Status: 404, Msg: "strava: POST /oauth/token: 404 Not Found"}},
		"a renewal beyond the limit": {"Refresh", 429, nil, wrong("RefreshToken"),
			strava.Error{
				Kind:       strava.Limited,
				Status:     429,
				RetryAfter: quarter,
				Resource:   "RefreshToken",
				Msg:        "strava: POST /oauth/token: 429 Too Many Requests",
			}},
		"a renewal while Strava is down": {"Refresh", 503, nil, wrong("RefreshToken"),
			strava.Error{
				Kind:     strava.Unavailable,
				Status:   503,
				Resource: "RefreshToken",
				Msg:      "strava: POST /oauth/token: 503 Service Unavailable",
			}},

		"an end while Strava is down": {"Revoke", 500, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 500, Msg: "strava: POST /oauth/revoke: 500 Internal Server Error"}},
		"an end with a wrong secret": {"Revoke", 401, nil, wrong("Application"),
			strava.Error{Kind: strava.Unauthorized, Status: 401, Resource: "Application", Msg: "strava: POST /oauth/revoke: 401 Unauthorized"}},
		"an end that is refused without reason": {"Revoke", 401, nil, "",
			strava.Error{Kind: strava.Unauthorized, Status: 401, Msg: "strava: POST /oauth/revoke: 401 Unauthorized"}},
		"too many athletes": {"Exchange", 403, nil, `{"message":"Limit of connected athletes exceeded","errors":[]}`,
			strava.Error{Kind: strava.Full, Status: 403, Msg: "strava: POST /oauth/token: 403 Forbidden"}},
		"a path that does not exist": {"Activity", 404, nil, wrong("resource"),
			strava.Error{Kind: strava.Unavailable, Status: 404, Resource: "resource", Msg: activity + "404 Not Found"}},
		"a page that does not exist": {"Activity", 404, nil, "<html>",
			strava.Error{Kind: strava.Unavailable, Status: 404, Msg: activity + "404 Not Found"}},
		"a page while Strava is down": {"Activities", 500, nil, "",
			strava.Error{Kind: strava.Unavailable, Status: 500, Msg: "strava: GET /api/v3/athlete/activities: 500 Internal Server Error"}},
		"a subscription that exists": {"Subscribe", 400, nil, "",
			strava.Error{Kind: strava.Invalid, Status: 400, Msg: "strava: POST /api/v3/push_subscriptions: 400 Bad Request"}},
		"a subscription that is wrong": {"Unsubscribe", 400, nil, "",
			strava.Error{Kind: strava.Invalid, Status: 400, Msg: "strava: DELETE /api/v3/push_subscriptions/9: 400 Bad Request"}},
		"subscriptions without secrets": {"Subscriptions", 401, nil, "",
			strava.Error{Kind: strava.Unauthorized, Status: 401, Msg: "strava: GET /api/v3/push_subscriptions: 401 Unauthorized"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := open(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					t.Error("the client follows a redirect")
				}

				for name, value := range c.header {
					w.Header().Set(name, value)
				}

				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			_, err := calls[c.call](t.Context(), client)

			e, ok := errors.AsType[*strava.Error](err)
			if !ok {
				t.Fatalf("got %v, want a strava.Error", err)
			}

			got := strava.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter, Resource: e.Resource, Msg: e.Error()}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoError: the access, or the subscription, has ended already; any status of success;
// and a page of exactly 8 MB.
func TestNoError(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		call   string
		status int
		body   string
	}{
		{"Revoke", 400, `{"errors":[{"resource":"RefreshToken"}]}`},
		{"Revoke", 401, `{"errors":[{"resource":"RefreshToken"}]}`},
		{"Revoke", 299, ""},
		{"Unsubscribe", 404, ""},
		{"Activity", 200, `{"id":5}` + strings.Repeat(" ", 8<<20-8)},
	} {
		client := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		if _, err := calls[c.call](t.Context(), client); err != nil {
			t.Errorf("%s, %d with %d bytes: got %v, want success", c.call, c.status, len(c.body), err)
		}
	}
}

// TestWindow: a limit lasts until the next quarter of an hour, or until midnight UTC.
func TestWindow(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/1") {
			w.Header().Set("X-RateLimit-Limit", "200,2000")
			w.Header().Set("X-RateLimit-Usage", "1,2000")
		}

		w.WriteHeader(429)
	}))
	t.Cleanup(server.Close)

	for _, c := range []struct {
		now          time.Time
		quarter, day time.Duration
	}{
		{time.Date(2026, 6, 6, 0, 0, 0, 0, time.UTC), 15 * time.Minute, 24 * time.Hour},
		{time.Date(2026, 6, 6, 0, 14, 59, 0, time.UTC), time.Second, 24*time.Hour - 899*time.Second},
		{time.Date(2026, 6, 7, 7, 15, 0, 0, time.UTC), 15 * time.Minute, 16*time.Hour + 45*time.Minute},
		{time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC), time.Second, time.Second},
	} {
		client := strava.Open(server.URL, strava.App{}, server.Client().Transport, func() time.Time { return c.now })

		var got [2]time.Duration
		for i := range got {
			_, err := client.Activity(t.Context(), "a1", fmt.Sprint(i))
			if e, ok := errors.AsType[*strava.Error](err); ok {
				got[i] = e.RetryAfter
			}
		}

		if diff := cmp.Diff([2]time.Duration{c.quarter, c.day}, got); diff != "" {
			t.Errorf("at %s until the quarter, the day is over (-want +got):\n%s", c.now, diff)
		}
	}
}

// TestCallEnds: a call has 15 seconds, and its connection is free afterwards.
func TestCallEnds(t *testing.T) {
	t.Parallel()

	closed := false
	begin := time.Now()

	client := strava.Open(strava.BaseURL, strava.App{}, transport(func(r *http.Request) (*http.Response, error) {
		until, ok := r.Context().Deadline()
		if !ok || until.Sub(begin) < 15*time.Second || time.Until(until) > 15*time.Second {
			t.Errorf("a call has %s, want 15 s", until.Sub(begin))
		}

		return &http.Response{StatusCode: 200, Body: body{strings.NewReader(`{"id":5}`), &closed}, Request: r}, nil
	}), time.Now)
	if _, err := client.Activity(t.Context(), "a1", "5"); err != nil || !closed {
		t.Errorf("the error is %v, the answer is closed: %v", err, closed)
	}
}

// body is the body of an answer, and knows whether it was closed.
type body struct {
	io.Reader
	closed *bool
}

func (b body) Close() error { *b.closed = true; return nil }

// TestNoAnswer is an error of the kind Unavailable, without the address, which may hold the
// secret.
func TestNoAnswer(t *testing.T) {
	t.Parallel()

	broken := errors.New("the network is down")
	client := strava.Open(strava.BaseURL, strava.App{ID: "4711", Secret: "app-s3cret"},
		transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "www.strava.com" {
				t.Errorf("the host is %s", r.URL.Host)
			}

			return nil, broken
		}), time.Now)

	_, err := client.Subscriptions(t.Context())
	if want := "strava: GET /api/v3/push_subscriptions: the network is down"; !strava.Is(err, strava.Unavailable) ||
		!errors.Is(err, broken) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	_, err = strava.Open("http://[", strava.App{Secret: "app-s3cret"}, nil, time.Now).Subscriptions(t.Context())
	if want := "strava: GET /api/v3/push_subscriptions: the request cannot be made"; !strava.Is(err, strava.Invalid) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	if strava.Is(broken, strava.Unavailable) || strava.Is(nil, strava.Unavailable) {
		t.Error("an error of something else is of the kind Unavailable")
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAPIElsewhere: the API, and nothing else, is where WithAPI has it.
func TestAPIElsewhere(t *testing.T) {
	t.Parallel()

	var got []string

	client := strava.Open(strava.BaseURL, strava.App{ID: "4711", Secret: "app-s3cret"},
		transport(func(r *http.Request) (*http.Response, error) {
			got = append(got, r.URL.Host+r.URL.Path)
			return nil, errors.New("the network is down")
		}), time.Now).WithAPI("").WithAPI("https://www.api-v3.strava.com/")
	for _, name := range []string{"Activities", "Activity", "Exchange", "Refresh", "Revoke", "Subscribe", "Subscriptions", "Unsubscribe"} {
		calls[name](t.Context(), client)
	}

	want := []string{
		"www.api-v3.strava.com/athlete/activities", "www.api-v3.strava.com/activities/5/6",
		"www.strava.com/oauth/token", "www.strava.com/oauth/token", "www.strava.com/oauth/revoke",
		"www.api-v3.strava.com/push_subscriptions", "www.api-v3.strava.com/push_subscriptions", "www.api-v3.strava.com/push_subscriptions/9",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the calls (-want +got):\n%s", diff)
	}
}

// TestAuthorizeURL asks for what webhooks and private activities need.
func TestAuthorizeURL(t *testing.T) {
	t.Parallel()

	got := strava.Open(strava.BaseURL, strava.App{ID: "4711", Secret: "app-s3cret"}, nil, nil).AuthorizeURL("https://api.test/back", "st4te")

	want := "https://www.strava.com/oauth/authorize?approval_prompt=auto&client_id=4711&redirect_uri=https%3A%2F%2Fapi.test%2Fback&response_type=code&scope=read%2Cactivity%3Aread%2Cactivity%3Aread_all&state=st4te"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the address (-want +got):\n%s", diff)
	}
}

// TestCanRead: activities can be read with either scope of activities.
func TestCanRead(t *testing.T) {
	t.Parallel()

	for scope, want := range map[string]bool{
		"": false, "read": false, "read,profile:read_all": false, "activity:write": false,
		"activity:read": true, "activity:read_all": true, "read,activity:read": true, "activity:read_all,read": true,
	} {
		if got := strava.CanRead(scope); got != want {
			t.Errorf("CanRead(%q) is %v, want %v", scope, got, want)
		}
	}
}

// TestActivity: sport types of activities from before 2022, lengths, and who sees it.
func TestActivity(t *testing.T) {
	t.Parallel()

	for of, want := range map[float64]int64{-1: 0, 0: 0, 0.4: 0, 0.5: 1, 1000.4: 1000, 1e9: 1_000_000_000, 1e9 + 1: 0} {
		if got := strava.Metres(of); got != want {
			t.Errorf("Metres(%v) is %d, want %d", of, got, want)
		}
	}

	type seen struct {
		Key, Sport string
		OnlyMe     bool
	}
	for _, c := range []struct {
		a    strava.Activity
		want seen
	}{
		{strava.Activity{ID: 5, OldType: "Run", SportType: "TrailRun"}, seen{"5", "TrailRun", false}},
		{strava.Activity{ID: 12345678901, OldType: "Run", Visibility: "followers_only"}, seen{"12345678901", "Run", false}},
		{strava.Activity{Private: true}, seen{"0", "", true}},
		{strava.Activity{Visibility: "only_me"}, seen{"0", "", true}},
	} {
		if diff := cmp.Diff(c.want, seen{c.a.Key(), c.a.Sport(), c.a.OnlyMe()}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.a, diff)
		}
	}
}
