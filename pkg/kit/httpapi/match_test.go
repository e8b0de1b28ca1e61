package httpapi

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// TestIfMatch: a change of what the caller has read is refused if there is a later revision.
func TestIfMatch(t *testing.T) {
	t.Parallel()

	stale := &problem.Error{
		Kind:  problem.Conflict,
		Code:  "stale",
		Text:  "somebody else has changed this: read it again",
		Field: "header.If-Match",
	}
	for _, c := range []struct {
		match string
		rev   int
		want  error
	}{
		{"", 7, nil}, {`"7"`, 7, nil}, {`"6"`, 7, stale}, {`"8"`, 7, stale}, {"7", 7, stale}, {`"0"`, 0, nil}, {`"12"`, 12, nil},
	} {
		if diff := cmp.Diff(c.want, IfMatch{c.match}.Check(c.rev)); diff != "" {
			t.Errorf("If-Match: %s of revision %d (-want +got):\n%s", c.match, c.rev, diff)
		}

		if c.want == nil && c.match != "" && c.match != ETag(c.rev) {
			t.Errorf("the ETag of revision %d is %s", c.rev, ETag(c.rev))
		}
	}
}

// TestETagOfAUseCase: an answer that states its version is not given another, and HEAD is
// answered as GET is, without the body.
func TestETagOfAUseCase(t *testing.T) {
	t.Parallel()

	type page struct {
		ETag string `header:"ETag"`
		Body struct{}
	}

	stated := Handler(getOver, func(context.Context, *read) (*page, error) { return &page{ETag: ETag(7)}, nil })

	e := request(t, "GET", "/overs/7", "")
	if out := serve(t, stated, e); out.StatusCode != 200 || out.Headers["Etag"] != `"7"` {
		t.Errorf("got %d with the ETag %s", out.StatusCode, out.Headers["Etag"])
	}

	e.Headers["if-none-match"] = `"7"`
	if out := serve(t, stated, e); out.StatusCode != 304 {
		t.Errorf("of the version that the client has: got %d", out.StatusCode)
	}

	get := serve(t, Handler(getOver, reading), request(t, "GET", "/overs/7", ""))

	head := serve(t, Handler(getOver, reading), request(t, "HEAD", "/overs/7", ""))
	if head.StatusCode != 200 || head.Headers["Etag"] == "" || head.Headers["Etag"] != get.Headers["Etag"] {
		t.Errorf("HEAD: got %d with the ETag %q, want that of GET, %q", head.StatusCode, head.Headers["Etag"], get.Headers["Etag"])
	}
}

// TestOnlyAnswer: the one status of a route is that of its answers.
func TestOnlyAnswer(t *testing.T) {
	t.Parallel()

	fn := getOver

	fn.On = spec.Route{Method: "GET", Path: "/overs/{id}", Auth: spec.Public, Answers: []int{202}}
	if out := serve(t, Handler(fn, reading), request(t, "GET", "/overs/7", "")); out.StatusCode != 202 {
		t.Errorf("got %d, want 202", out.StatusCode)
	}
}

// TestValuesOfABody: null where it is allowed, numbers beyond the integers, and no body.
func TestValuesOfABody(t *testing.T) {
	t.Parallel()

	type note struct {
		Speed float64  `json:"speed,omitempty"`
		Level int      `json:"level,omitempty"`
		Score *float64 `json:"score,omitempty" nullable:"true"`
		Any   any      `json:"any,omitempty"`
		Text  string   `json:"text,omitempty"`
	}

	type in struct {
		ID   string `path:"id"`
		Body *note
	}

	var got *note

	h := Handler(putOver, func(_ context.Context, in *in) (*over, error) {
		got = in.Body
		return answered("")
	})

	for _, c := range []struct {
		body   string
		want   *note
		status int
	}{
		{"", nil, 200},
		{`{}`, &note{}, 200},
		{`{"speed":1e300}`, &note{Speed: 1e300}, 200},
		{`{"speed":-0.0}`, &note{}, 200},
		{`{"level":1e300}`, nil, 422},
		{`{"score":null,"any":null}`, &note{}, 200},
		{`{"any":{"x":[null]}}`, &note{Any: map[string]any{"x": []any{nil}}}, 200},
		{`{"text":null}`, nil, 422},
		{`{"text":{"x":1}}`, nil, 422},
		{`{"level":[1]}`, nil, 422},
	} {
		got = nil

		out := serve(t, h, request(t, "POST", "/overs/7", c.body))
		if diff := cmp.Diff(c.want, got); diff != "" || out.StatusCode != c.status {
			t.Errorf("%s: got %d %s, want %d (-want +got):\n%s", c.body, out.StatusCode, out.Body, c.status, diff)
		}

		if got != nil && math.Signbit(got.Speed) {
			t.Errorf("%s: the speed is -0", c.body)
		}
	}
}

// TestTextsOfStrayParameters: a parameter that the route does not know is called unknown, also
// if it is given twice.
func TestTextsOfStrayParameters(t *testing.T) {
	t.Parallel()

	for query, want := range map[string]string{
		"x=1":             "unknown query parameter",
		"limit=1&limit=2": "given more than once",
		"x=1&x=2":         "given more than once",
	} {
		p := problemIn(t, serve(t, Handler(getOver, reading), request(t, "GET", "/overs/7?"+query, "")))
		if len(p.Errors) != 1 || p.Errors[0].Message != want {
			t.Errorf("%s: got %+v, want %q", query, p.Errors, want)
		}
	}
}

// TestPagesOfAUseCase: a page that a use case answers with a refusal's status is kept, and a
// problem of status 400 becomes one.
func TestPagesOfAUseCase(t *testing.T) {
	e := request(t, "GET", "/overs/7", "")
	e.Headers["if-none-match"] = "*"

	out := serve(t, Handler(getOver, func(context.Context, *read) (*statusSheet, error) {
		return &statusSheet{Status: 200, Body: []byte("<p>an over")}, nil
	}), e)
	if out.StatusCode != 304 || out.Body != "" {
		t.Errorf("a page that the browser has: got %d %s, want 304 and nothing", out.StatusCode, out.Body)
	}

	t.Parallel()

	h := Handler(getOver, func(_ context.Context, in *read) (*statusSheet, error) {
		if in.ID == "1" {
			return nil, problem.New(problem.Invalid, "bad_over", "no")
		}

		return &statusSheet{Status: 404, Body: []byte("<p>no such over")}, nil
	})
	for target, want := range map[string]string{"/overs/7": "<p>no such over", "/overs/1": "<p>refused: no", "/overs/x": "<p>refused: "} {
		if out := serve(t, h, request(t, "GET", target, "")); out.Body != want || out.Headers["Content-Type"] != "text/html" {
			t.Errorf("%s: got %d %s of %s, want %s", target, out.StatusCode, out.Body, out.Headers["Content-Type"], want)
		}
	}
}

// TestPageOfAnotherSite: a form that a page of another site sends is refused with a page.
func TestPageOfAnotherSite(t *testing.T) {
	t.Parallel()

	fn := putOver
	fn.On = spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.Browser}
	serve := Lambda(fn, session.Sessions{Origins: []string{"https://app.test"}}, func(context.Context, *sent) (*statusSheet, error) {
		return &statusSheet{Status: 200, Body: []byte("<p>done")}, nil
	})

	e := request(t, http.MethodPost, "/overs/7", "")
	e.Headers["origin"], e.Headers["content-type"] = "https://evil.test", formType

	out, err := serve(context.Background(), e)
	if err != nil || out.StatusCode != 403 || out.Headers["Content-Type"] != "text/html" || out.Headers["Cache-Control"] != NoStore ||
		out.Body != "<p>refused: this request must come from a page of the app" {
		t.Errorf("got %d %v %s, %v", out.StatusCode, out.Headers, out.Body, err)
	}
}

type statusSheet struct {
	Status int
	Body   []byte `contentType:"text/html"`
}

func (*statusSheet) Refusal(_ int, detail string) (http.Header, []byte) {
	return http.Header{"Content-Type": {"text/html"}}, []byte("<p>refused: " + detail)
}

// TestLimitsAreDescribed: who exceeds a number of things is in conflict; who asks too often is
// limited.
func TestLimitsAreDescribed(t *testing.T) {
	t.Parallel()

	for per, want := range map[time.Duration]int{0: 409, time.Minute: 429} {
		fn := getOver

		fn.Limits = []spec.Limit{{Name: "overs", Max: 3, Per: per, Code: "too_many"}}
		if got := codesOf(fn, reflect.TypeFor[read](), nil); !slices.Equal(got[want], []string{"too_many"}) {
			t.Errorf("per %v: the codes are %v, want too_many for %d", per, got, want)
		}
	}
}
