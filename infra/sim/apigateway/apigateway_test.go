package apigateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 250_000_000, time.UTC)

// typedError is an error as the Lambda runtime gives it.
type typedError string

func (e typedError) Error() string     { return string(e) }
func (e typedError) ErrorType() string { return string(e) }

func newGateway(t *testing.T, cfg Config) *Gateway {
	t.Helper()

	if cfg.Clock == nil {
		cfg.Clock = clock.New(start, clock.Free)
	}

	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return g
}

// verify takes the token "good".
func verify(token string) (map[string]any, error) {
	if token != "good" {
		return nil, errors.New("a bad token")
	}

	return map[string]any{
		"sub":            "u1",
		"cognito:groups": []any{"admin", "scorers"},
		"exp":            json.Number("1780315200"),
		"email_verified": true,
	}, nil
}

// echo answers with the event it got.
func echo(_ context.Context, _ string, payload []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"statusCode": 200, "body": string(payload)})
}

func serve(g *Gateway, req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, req)

	return w
}

func TestEventIsPayloadFormat2(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{
		Base:   "/cricket",
		Routes: []Route{{"PUT", "/user/follow/{matchId}", "cricket/put-follow", User}},
		Invoke: echo,
		Verify: verify, VerifyAdmin: verify,
	})
	req := httptest.NewRequest("PUT", "http://api.local:8080/cricket/user/follow/m%201?b=2&a=1&a=x%20y&empty=",
		strings.NewReader(`{"on":true}`))
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Authorization", "bearer good")
	req.Header.Set("User-Agent", "phone/1")
	req.Header.Add("X-Many", "one")
	req.Header.Add("X-Many", "two")
	req.Header.Add("Cookie", "a=1; b=2")
	w := serve(g, req)

	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}

	trace := got["headers"].(map[string]any)["x-amzn-trace-id"].(string)
	want := `{
		"version": "2.0",
		"routeKey": "PUT /user/follow/{matchId}",
		"rawPath": "/user/follow/m 1",
		"rawQueryString": "b=2&a=1&a=x%20y&empty=",
		"cookies": ["a=1", "b=2"],
		"headers": {
			"authorization": "bearer good",
			"content-length": "11",
			"content-type": "application/json; charset=utf-8",
			"host": "api.local:8080",
			"user-agent": "phone/1",
			"x-amzn-trace-id": "` + trace + `",
			"x-forwarded-for": "192.0.2.1",
			"x-forwarded-port": "8080",
			"x-forwarded-proto": "http",
			"x-many": "one,two"
		},
		"queryStringParameters": {"a": "1,x y", "b": "2", "empty": ""},
		"pathParameters": {"matchId": "m 1"},
		"requestContext": {
			"accountId": "000000000000",
			"apiId": "cricket",
			"authorizer": {"jwt": {
				"claims": {"cognito:groups": "[admin scorers]", "email_verified": "true", "exp": "1780315200", "sub": "u1"},
				"scopes": null
			}},
			"domainName": "api.local",
			"domainPrefix": "api",
			"http": {
				"method": "PUT",
				"path": "/user/follow/m 1",
				"protocol": "HTTP/1.1",
				"sourceIp": "192.0.2.1",
				"userAgent": "phone/1"
			},
			"requestId": "` + w.Header().Get("Apigw-Requestid") + `",
			"routeKey": "PUT /user/follow/{matchId}",
			"stage": "$default",
			"time": "01/Jun/2026:12:00:00 +0000",
			"timeEpoch": 1780315200250
		},
		"body": "{\"on\":true}",
		"isBase64Encoded": false
	}`

	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}

	a, _ := json.MarshalIndent(got, "", " ")

	b, _ := json.MarshalIndent(wanted, "", " ")
	if !bytes.Equal(a, b) {
		t.Errorf("got %s\nwant %s", a, b)
	}

	strict := json.NewDecoder(w.Body)
	strict.DisallowUnknownFields()

	if err := strict.Decode(new(events.APIGatewayV2HTTPRequest)); err != nil {
		t.Error(err)
	}
}

// The fleet's functions read events through this adapter.
func TestThroughTheHTTPAdapter(t *testing.T) {
	t.Parallel()

	adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c, _ := r.Cookie("b")

		http.SetCookie(w, &http.Cookie{Name: "x", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "y", Value: "2"})
		w.Header().Set("Content-Type", "application/octet-stream")
		w.WriteHeader(http.StatusCreated)
		w.Write(slices.Concat([]byte{0xff}, []byte(r.Method+" "+r.URL.RequestURI()+" "+c.Value+" "), body))
	}))
	g := newGateway(t, Config{
		Base:   "/cricket/",
		Routes: []Route{{"POST", "/files/{name}", "f", Public}},
		Invoke: func(ctx context.Context, _ string, payload []byte) ([]byte, error) {
			var e events.APIGatewayV2HTTPRequest
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}

			res, err := adapter.ProxyWithContext(ctx, e)
			if err != nil {
				return nil, err
			}

			return json.Marshal(res)
		},
	})
	req := httptest.NewRequest("POST", "/cricket/files/a?q=1&q=2", bytes.NewReader([]byte{0, 1, 0xfe}))
	req.Header.Set("Cookie", "a=1; b=2")

	w := serve(g, req)
	if want := "\xffPOST /files/a?q=1&q=2 2 \x00\x01\xfe"; w.Code != http.StatusCreated || w.Body.String() != want {
		t.Errorf("got %d %q, want %q", w.Code, w.Body, want)
	}

	if got, want := w.Header()["Set-Cookie"], []string{"x=1", "y=2"}; !slices.Equal(got, want) {
		t.Errorf("cookies %q, want %q", got, want)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Routes: []Route{{"POST", "/", "f", Public}}, Invoke: echo})

	for _, c := range []struct {
		kind, encoding, body string
		base64               bool
	}{
		{"application/json", "", `{"a":1}`, false},
		{"text/csv; charset=utf-8", "", "é", false},
		{"application/xml", "", "<a/>", false},
		{"application/x-www-form-urlencoded", "", "a=1", true},
		{"multipart/form-data; boundary=x", "", "--x--", true},
		{"image/png", "", "\x89PNG", true},
		{"application/json", "gzip", "\x1f\x8b", true},
		{"application/json", "", "\xff", true}, // would not survive as text
		{"", "", "who knows", true},
		{"", "", "", false},
	} {
		req := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		req.Header.Set("Content-Type", c.kind)

		if c.encoding != "" {
			req.Header.Set("Content-Encoding", c.encoding)
		}

		var e events.APIGatewayV2HTTPRequest
		if err := json.Unmarshal(serve(g, req).Body.Bytes(), &e); err != nil {
			t.Fatal(err)
		}

		want := c.body
		if c.base64 {
			want = base64.StdEncoding.EncodeToString([]byte(want))
		}

		if e.Body != want || e.IsBase64Encoded != c.base64 {
			t.Errorf("%s %s: body %q, base64 %v", c.kind, c.encoding, e.Body, e.IsBase64Encoded)
		}
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, answer string
		err          error
		status       int
		body         string
		headers      http.Header // some of them
	}{
		{
			name:    "full",
			answer:  `{"statusCode":201,"headers":{"content-type":"text/x","X-N":7,"x-b":true},"multiValueHeaders":{"X-M":["a","b"]},"cookies":["c=1","d=2"],"body":"hi"}`,
			status:  201,
			body:    "hi",
			headers: http.Header{"Content-Type": {"text/x"}, "X-N": {"7"}, "X-B": {"true"}, "X-M": {"a", "b"}, "Set-Cookie": {"c=1", "d=2"}},
		},
		{name: "base64", answer: `{"statusCode":200,"body":"AAH/","isBase64Encoded":true}`, status: 200, body: "\x00\x01\xff"},
		{
			name:    "no type",
			answer:  `{"statusCode":200,"body":"hi"}`,
			status:  200,
			body:    "hi",
			headers: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		},
		{name: "no body", answer: `{"statusCode":204}`, status: 204},
		{name: "bare object", answer: `{"a": 1}`, status: 200, body: `{"a": 1}`, headers: http.Header{"Content-Type": {"application/json"}}},
		{name: "bare string", answer: `"hi"`, status: 200, body: "hi", headers: http.Header{"Content-Type": {"application/json"}}},
		{name: "bare list", answer: `[1]`, status: 200, body: "[1]"},
		{
			name:   "own length",
			answer: `{"statusCode":200,"headers":{"Content-Length":"999","Apigw-Requestid":"me"},"body":"hi"}`,
			status: 200,
			body:   "hi",
		},
		{name: "no JSON", answer: `hi`, status: 500, body: `{"message":"Internal Server Error"}`},
		{name: "empty", answer: ``, status: 500, body: `{"message":"Internal Server Error"}`},
		{name: "status is text", answer: `{"statusCode":"200"}`, status: 500, body: `{"message":"Internal Server Error"}`},
		{name: "no such status", answer: `{"statusCode":42}`, status: 500, body: `{"message":"Internal Server Error"}`},
		{name: "body is an object", answer: `{"statusCode":200,"body":{}}`, status: 500, body: `{"message":"Internal Server Error"}`},
		{name: "header is an object", answer: `{"statusCode":200,"headers":{"a":{}}}`, status: 500, body: `{"message":"Internal Server Error"}`},
		{
			name:   "not base64",
			answer: `{"statusCode":200,"body":"?","isBase64Encoded":true}`,
			status: 500,
			body:   `{"message":"Internal Server Error"}`,
		},
		{name: "function failed", err: typedError("errorString"), status: 500, body: `{"message":"Internal Server Error"}`,
			headers: http.Header{"Content-Type": {"application/json"}}},
		{name: "throttled", err: typedError("TooManyRequestsException"), status: 429, body: `{"message":"Too Many Requests"}`},
		{name: "payload too large", err: typedError("RequestTooLargeException"), status: 413, body: `{"message":"Request Entity Too Large"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, Config{Routes: []Route{{"GET", "/", "f", Public}}, Invoke: func(context.Context, string, []byte) ([]byte, error) {
				return []byte(c.answer), c.err
			}})

			w := serve(g, httptest.NewRequest("GET", "/", nil))
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, c.status, c.body)
			}

			for name, want := range c.headers {
				if got := w.Header()[name]; !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}

			if id := w.Header().Get("Apigw-Requestid"); len(id) != 16 {
				t.Errorf("request id %q", id)
			}

			if w.Header().Get("Content-Length") != "" {
				t.Error("the function set the length")
			}
		})
	}
}

func TestAuth(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{
		Routes: []Route{
			{"GET", "/public", "f", Public},
			{"GET", "/user", "f", User},
			{"GET", "/admin", "f", Admin},
			{Method: "GET", Path: "/careless", Function: "f"},
		},
		Invoke: echo,
		Verify: verify, VerifyAdmin: verify,
	})

	for _, c := range []struct {
		path, header string
		status       int
		challenge    string
	}{
		{"/public", "", 200, ""},
		{"/public", "Bearer bad", 200, ""},
		{"/user", "", 401, "Bearer"},
		{"/user", "Bearer ", 401, "Bearer"},
		{"/user", "Bearer bad", 401, "invalid_token"},
		{"/user", "Basic good", 401, "invalid_token"},
		{"/user", "Bearer good", 200, ""},
		{"/user", "good", 200, ""}, // the service takes bare tokens
		{"/admin", "", 401, "Bearer"},
		{"/admin", "Bearer good", 200, ""},
		{"/careless", "", 401, "Bearer"}, // a route says so if it is public
	} {
		req := httptest.NewRequest("GET", c.path, nil)
		req.Header.Set("Authorization", c.header)

		w := serve(g, req)
		if w.Code != c.status || !strings.Contains(w.Header().Get("WWW-Authenticate"), c.challenge) {
			t.Errorf("%s with %q: %d, challenge %q", c.path, c.header, w.Code, w.Header().Get("WWW-Authenticate"))
		}

		if c.status == 401 && w.Body.String() != `{"message":"Unauthorized"}` {
			t.Errorf("body %s", w.Body)
		}

		var e events.APIGatewayV2HTTPRequest
		if c.path == "/public" && (json.Unmarshal(w.Body.Bytes(), &e) != nil || e.RequestContext.Authorizer != nil) {
			t.Errorf("a public route got an authorizer: %s", w.Body)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()

	g := newGateway(t, Config{Base: "/cricket", Routes: []Route{{"GET", "/matches", "f", Public}, {"GET", "/", "root", Public}}, Invoke: echo})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/cricket/matches", 200},
		{"GET", "/cricket", 200},
		{"GET", "/cricket/", 200},
		{"HEAD", "/cricket/matches", 404},
		{"POST", "/cricket/matches", 404},
		{"OPTIONS", "/cricket/matches", 404},
		{"GET", "/cricket/matches/", 404},
		{"GET", "/cricket//matches", 404},
		{"GET", "/cricketmatches", 404},
		{"GET", "/matches", 404},
	} {
		w := serve(g, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || c.status == 404 && w.Body.String() != `{"message":"Not Found"}` {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, w.Code, w.Body, c.status)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Routes: []Route{{"POST", "/", "f", Public}}, Invoke: func(context.Context, string, []byte) ([]byte, error) {
		return []byte(`{"statusCode":204}`), nil
	}})

	for _, c := range []struct {
		name, kind string
		size       int
		status     int
	}{
		{"5 MB of text", "text/plain", 5 << 20, 204},
		{"5 MB in base64 are over 6", "image/png", 5 << 20, 413},
		{"6 MB leave no room for the rest", "text/plain", 6 << 20, 413},
		{"over 6 MB", "text/plain", 6<<20 + 1, 413},
	} {
		req := httptest.NewRequest("POST", "/", bytes.NewReader(bytes.Repeat([]byte("x"), c.size)))
		req.Header.Set("Content-Type", c.kind)

		if w := serve(g, req); w.Code != c.status {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.status)
		}
	}
}

// A function outlives the caller that gave it up, and holds the clock as long.
func TestTimeout(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	end, ended := make(chan struct{}), make(chan struct{})
	g := newGateway(t, Config{
		Clock: c, Timeout: time.Millisecond,
		Routes: []Route{{"GET", "/", "f", Public}},
		Invoke: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
			<-end

			if ctx.Err() != nil {
				t.Error("the function's context ended with its caller")
			}

			if !c.Now().Equal(start) {
				t.Error("the clock moved while the function ran")
			}

			return nil, nil
		},
	})
	hold := c.Work()
	c.After(time.Second, func() { close(ended) })

	ctx, cancel := context.WithCancel(t.Context())
	w := serve(g, httptest.NewRequestWithContext(ctx, "GET", "/", nil))

	cancel()

	if w.Code != 503 || w.Body.String() != `{"message":"Service Unavailable"}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}

	hold()
	close(end)
	<-ended
}

func TestEveryRequestGivesItsWorkBack(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	g := newGateway(t, Config{
		Clock:  c,
		CORS:   CORS{AllowOrigins: []string{"*"}},
		Routes: []Route{{"POST", "/", "f", User}, {"GET", "/", "f", Public}},
		Invoke: echo,
	})
	hold := c.Work()

	for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
		req := httptest.NewRequest(method, "/", nil)
		req.Header.Set("Origin", "https://a.example")
		req.Header.Set("Access-Control-Request-Method", "GET")
		serve(g, req)
	}

	over := make(chan struct{})

	c.After(time.Second, func() { close(over) })
	hold()
	<-over
}

func TestCORS(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{
		CORS: CORS{
			AllowOrigins: []string{"https://app.example"}, AllowMethods: []string{"GET", "PUT"}, AllowHeaders: []string{"authorization"},
			ExposeHeaders: []string{"etag"}, AllowCredentials: true, MaxAge: time.Hour,
		},
		Routes: []Route{{"GET", "/", "f", Public}},
		Invoke: func(context.Context, string, []byte) ([]byte, error) {
			return []byte(`{"statusCode":200,"headers":{"access-control-allow-origin":"*"}}`), nil
		},
	})

	for _, c := range []struct {
		name, method, origin, ask string
		status                    int
		want                      map[string]string
	}{
		{"preflight", "OPTIONS", "https://app.example", "PUT", 204, map[string]string{
			"Access-Control-Allow-Origin":      "https://app.example",
			"Access-Control-Allow-Methods":     "GET,PUT",
			"Access-Control-Allow-Headers":     "authorization",
			"Access-Control-Max-Age":           "3600",
			"Access-Control-Allow-Credentials": "true",
			"Access-Control-Expose-Headers":    "etag",
		}},
		{"preflight of a stranger", "OPTIONS", "https://evil.example", "PUT", 204, map[string]string{}},
		{"request", "GET", "https://app.example", "", 200, map[string]string{
			"Access-Control-Allow-Origin":      "https://app.example",
			"Access-Control-Allow-Credentials": "true",
			"Access-Control-Expose-Headers":    "etag",
		}},
		{"request of a stranger", "GET", "https://evil.example", "", 200, map[string]string{}},
		{"no browser", "GET", "", "", 200, map[string]string{}},
		{"refusal", "DELETE", "https://app.example", "", 404, map[string]string{
			"Access-Control-Allow-Origin":      "https://app.example",
			"Access-Control-Allow-Credentials": "true",
			"Access-Control-Expose-Headers":    "etag",
		}},
	} {
		req := httptest.NewRequest(c.method, "/", nil)
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}

		if c.ask != "" {
			req.Header.Set("Access-Control-Request-Method", c.ask)
		}

		w := serve(g, req)
		got := map[string]string{}

		for name, v := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				got[name] = strings.Join(v, ",")
			}
		}

		if w.Code != c.status || !maps.Equal(got, c.want) {
			t.Errorf("%s: %d %v, want %d %v", c.name, w.Code, got, c.status, c.want)
		}
	}
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{`{"statusCode":200,"headers":{"a":1},"body":"x"}`, `{"statusCode":200,"isBase64Encoded":true,"body":"!"}`,
		`"x"`, `null`, `{"statusCode":2e2}`, `{"statusCode":200,"cookies":["\n"]}`} {
		f.Add([]byte(s))
	}

	g, err := New(Config{
		Clock:  clock.New(start, clock.Free),
		Routes: []Route{{"GET", "/", "f", Public}},
		Invoke: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
			return ctx.Value(answerKey{}).([]byte), nil
		},
	})
	if err != nil {
		f.Fatal(err)
	}

	f.Fuzz(func(t *testing.T, answer []byte) {
		w := serve(g, httptest.NewRequestWithContext(context.WithValue(t.Context(), answerKey{}, answer), "GET", "/", nil))
		if w.Code == 500 && w.Body.String() == `{"message":"Internal Server Error"}` {
			return
		}

		if !json.Valid(answer) {
			t.Errorf("%q was answered with %d", answer, w.Code)
		}
	})
}

type answerKey struct{}
