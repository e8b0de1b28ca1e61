package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// getOver and putOver are two routes of a room.
var (
	getOver = spec.Function{Name: "test/get-over", Does: "One over.", On: spec.Route{Method: "GET", Path: "/overs/{id}", Auth: spec.Public}}
	putOver = spec.Function{
		Name: "test/put-over",
		Does: "Writes an over.",
		On:   spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.User},
	}
)

type read struct {
	ID    string   `path:"id" pattern:"^[0-9]{1,4}$"`
	Limit int      `query:"limit" minimum:"1" maximum:"20" default:"6"`
	Teams []string `query:"teams" maxItems:"2"`
	Trace string   `header:"X-Trace"`
}

type write struct {
	ID   string `path:"id"`
	Body struct {
		Bowler string `json:"bowler" minLength:"2" maxLength:"20"`
		Runs   []int  `json:"runs,omitempty" maxItems:"12"`
		Extras struct {
			Wides int `json:"wides" minimum:"0"`
		} `json:"extras,omitempty"`
	}
}

type over struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Text string `json:"text"`
	}
}

func answered(text string) (*over, error) {
	o := &over{CacheControl: "public, max-age=2"}
	o.Body.Text = text

	return o, nil
}

func reading(_ context.Context, in *read) (*over, error) {
	return answered(fmt.Sprint(in.ID, " ", in.Limit, " ", in.Teams, " ", in.Trace))
}

func writing(_ context.Context, in *write) (*over, error) {
	return answered(fmt.Sprint(in.ID, " ", in.Body.Bowler, " ", in.Body.Runs, " ", in.Body.Extras.Wides))
}

// request is an event as API Gateway sends it.
func request(t *testing.T, method, target, body string) events.APIGatewayV2HTTPRequest {
	t.Helper()

	path, query, _ := strings.Cut(target, "?")

	var e events.APIGatewayV2HTTPRequest

	err := json.Unmarshal([]byte(`{
		"version": "2.0", "routeKey": "`+method+` /overs/{id}", "rawPath": "`+path+`", "rawQueryString": "`+query+`",
		"headers": {"accept": "*/*", "content-length": "0", "host": "k2x9.execute-api.eu-west-1.amazonaws.com", "user-agent": "curl/8.5.0",
			"x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e", "x-forwarded-for": "198.51.100.7", "x-forwarded-port": "443", "x-forwarded-proto": "https"},
		"requestContext": {"accountId": "123456789012", "apiId": "k2x9", "domainName": "k2x9.execute-api.eu-west-1.amazonaws.com", "domainPrefix": "k2x9",
			"http": {"method": "`+method+`", "path": "`+path+`", "protocol": "HTTP/1.1", "sourceIp": "198.51.100.7", "userAgent": "curl/8.5.0"},
			"requestId": "JKJaXmPLvHcESHA=", "routeKey": "`+method+
		` /overs/{id}", "stage": "$default", "time": "10/Mar/2026:05:16:23 +0000", "timeEpoch": 1773119783244},
		"isBase64Encoded": false}`), &e)
	if err != nil {
		t.Fatal(err)
	}

	e.Body = body

	return e
}

func serve(t *testing.T, h http.Handler, e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
	t.Helper()

	out, err := httpadapter.NewV2(h).ProxyWithContext(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}

	return out
}

// problemOf is a problem document (RFC 9457) with its field errors.
type problemOf struct {
	Type   string
	Status int
	Title  string
	Detail string
	Errors []struct{ Message, Location string }
}

// problemTypes are the types of problem documents: all of them have a code.
var problemTypes = regexp.MustCompile(`^urn:problem-type:matchday:[a-z][a-z0-9_]*$`)

func problemIn(t *testing.T, out events.APIGatewayV2HTTPResponse) problemOf {
	t.Helper()

	var p problemOf
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil {
		t.Fatalf("%v: %s", err, out.Body)
	}

	if got := out.Headers["Content-Type"]; got != "application/problem+json" {
		t.Errorf("the content type is %q", got)
	}

	if !problemTypes.MatchString(p.Type) {
		t.Errorf("the type is %q", p.Type)
	}

	if p.Status != out.StatusCode || p.Title == "" || p.Detail == "" {
		t.Errorf("%d is answered with %+v", out.StatusCode, p)
	}

	return p
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	get, put := Handler(getOver, reading), Handler(putOver, writing)
	encoded := request(t, "POST", "/overs/7", base64.StdEncoding.EncodeToString([]byte(`{"bowler":"O’Keefe"}`)))
	encoded.IsBase64Encoded = true
	traced := request(t, "GET", "/overs/7", "")

	traced.Headers["x-trace"] = "abc"
	for _, c := range []struct {
		name string
		h    http.Handler
		e    events.APIGatewayV2HTTPRequest
		want string
	}{
		{"defaults", get, request(t, "GET", "/overs/7", ""), "7 6 [] "},
		{"query", get, request(t, "GET", "/overs/7?limit=20&teams=aus,eng", ""), "7 20 [aus eng] "},
		{"header", get, traced, "7 6 [] abc"},
		{"body", put, request(t, "POST", "/overs/7", `{"bowler":"Warne","runs":[0,4],"extras":{"wides":2}}`), "7 Warne [0 4] 2"},
		{"base64 body", put, encoded, "7 O’Keefe [] 0"},
	} {
		out := serve(t, c.h, c.e)

		var body struct{ Text string }
		if err := json.Unmarshal([]byte(out.Body), &body); err != nil || out.StatusCode != 200 || body.Text != c.want {
			t.Errorf("%s: got %d %s, want %q", c.name, out.StatusCode, out.Body, c.want)
		}

		if out.Headers["Content-Type"] != "application/json" || out.Headers["Cache-Control"] != "public, max-age=2" {
			t.Errorf("%s: the headers are %v", c.name, out.Headers)
		}

		if strings.Contains(out.Body, "$schema") {
			t.Errorf("%s: the answer links its schema: %s", c.name, out.Body)
		}
	}
}

// TestURLOfOthers: a service that calls a route may add parameters to the query. What the
// route knows is checked as ever, and the description has that others are ignored.
func TestURLOfOthers(t *testing.T) {
	t.Parallel()

	fn := getOver
	fn.On = spec.Route{Method: "GET", Path: "/overs/{id}", Auth: spec.Public, OthersCall: true}

	h := Handler(fn, reading)
	for query, status := range map[string]int{
		"?iss=https://pool&iss=https://other&session_state=1": 200,
		"?limit=20&trace":    200,
		"?others=1&others=2": 200,
		"?id=1&id=2":         200,
		"?limit=20&limit=20": 422,
		"?limit=21&x=1":      422,
		"?%zz":               200,
		"?limit=20&utm=%zz;": 200,
		"?limit=21&utm=%zz;": 422,
	} {
		if out := serve(t, h, request(t, "GET", "/overs/7"+query, "")); out.StatusCode != status {
			t.Errorf("%s: got %d %s, want %d", query, out.StatusCode, out.Body, status)
		}
	}

	text, err := OpenAPI(fn, reading)
	if err != nil {
		t.Fatal(err)
	}

	want := `{"description":"Any other parameter is ignored.","explode":true,"in":"query","name":"others","schema":{"additionalProperties":{"type":"string"},"type":"object"},"style":"form"}`
	if !strings.Contains(string(text), want) {
		t.Errorf("the description is %s, want it to have %s", text, want)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()

	get, put := Handler(getOver, reading), Handler(putOver, writing)

	large := `{"bowler":"Warne","runs":[` + strings.Repeat("0,", MaxBody/2) + `0]}`
	for _, c := range []struct {
		name   string
		h      http.Handler
		e      events.APIGatewayV2HTTPRequest
		status int
		field  string // blamed, "" for none
	}{
		{"unknown query parameter", get, request(t, "GET", "/overs/7?limt=3", ""), 422, "query.limt"},
		{"number out of range", get, request(t, "GET", "/overs/7?limit=21", ""), 422, "query.limit"},
		{"no number", get, request(t, "GET", "/overs/7?limit=x", ""), 422, "query.limit"},
		{"too many", get, request(t, "GET", "/overs/7?teams=a,b,c", ""), 422, "query.teams"},
		{"path", get, request(t, "GET", "/overs/x", ""), 422, "path.id"},
		{"missing body", put, request(t, "POST", "/overs/7", ""), 400, ""},
		{"malformed body", put, request(t, "POST", "/overs/7", `{"bowler":`), 400, "body"},
		{"no object", put, request(t, "POST", "/overs/7", `[]`), 422, "body"},
		{"null", put, request(t, "POST", "/overs/7", `null`), 422, "body"},
		{"two documents", put, request(t, "POST", "/overs/7", `{"bowler":"Warne"}{}`), 400, "body"},
		{"unknown field", put, request(t, "POST", "/overs/7", `{"bowler":"Warne","runz":[1]}`), 422, "body.runz"},
		{"unknown field within", put, request(t, "POST", "/overs/7", `{"bowler":"Warne","extras":{"wides":1,"byes":1}}`),
			422, "body.extras.byes"},
		{"wrong type", put, request(t, "POST", "/overs/7", `{"bowler":3}`), 422, "body.bowler"},
		{"wrong type within", put, request(t, "POST", "/overs/7", `{"bowler":"Warne","runs":[1,"x"]}`), 422, "body.runs[1]"},
		{"missing field", put, request(t, "POST", "/overs/7", `{"runs":[1]}`), 422, "body"},
		{"too short", put, request(t, "POST", "/overs/7", `{"bowler":"W"}`), 422, "body.bowler"},
		{"too large", put, request(t, "POST", "/overs/7", large), 413, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := serve(t, c.h, c.e)

			p := problemIn(t, out)
			if out.StatusCode != c.status {
				t.Errorf("got %d %s, want %d", out.StatusCode, out.Body, c.status)
			}

			var blamed []string
			for _, e := range p.Errors {
				blamed = append(blamed, e.Location)
			}

			if c.field != "" && !slices.Equal(blamed, []string{c.field}) {
				t.Errorf("got errors for %q, want %s: %s", blamed, c.field, out.Body)
			}

			if len(out.Body) > 1024 {
				t.Errorf("the refusal takes %d bytes", len(out.Body))
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()

	secret := errors.New("dial tcp 10.0.0.7: secret")
	for _, c := range []struct {
		err    error
		status int
		detail string
		field  string
		code   string
	}{
		{secret, 500, "something went wrong on our side", "", "internal"},
		{problem.New(problem.Internal, "", "the scorebook is lost").Because(secret), 500, "the scorebook is lost", "", "internal"},
		{problem.New(problem.Invalid, "", "to is before from").Because(secret), 400, "to is before from", "", "bad_request"},
		{problem.In("query.to", "to is before from"), 400, "to is before from", "query.to", "bad_request"},
		{problem.New(problem.Unauthenticated, "", "sign in first"), 401, "sign in first", "", "unauthenticated"},
		{problem.New(problem.Denied, "", "not yours"), 403, "not yours", "", "denied"},
		{problem.New(problem.NotFound, "", "no such over"), 404, "no such over", "", "not_found"},
		{problem.New(problem.Conflict, "", "it changed"), 409, "it changed", "", "conflict"},
		{problem.New(problem.Limited, "", "too often"), 429, "too often", "", "limited"},
		{problem.New(problem.Unavailable, "", "try again").Because(secret), 503, "try again", "", "unavailable"},
		{problem.New(problem.Upstream, "", "begin again").Because(secret), 502, "begin again", "", "bad_gateway"},
		{fmt.Errorf("secret: %w", problem.New(problem.NotFound, "", "no such over")), 404, "no such over", "", "not_found"},
		{problem.New(problem.Conflict, "event_locked", "locked").In("body"), 409, "locked", "body", "event_locked"},
		{problem.New(problem.Unprocessable, "", "no such team"), 422, "no such team", "", "invalid"},
	} {
		h := Handler(getOver, func(context.Context, *read) (*over, error) { return nil, c.err })
		out := serve(t, h, request(t, "GET", "/overs/7", ""))

		p := problemIn(t, out)
		if out.StatusCode != c.status || p.Detail != c.detail {
			t.Errorf("%v: got %d %+v, want %d %q", c.err, out.StatusCode, p, c.status, c.detail)
		}

		if got, want := p.Type, "urn:problem-type:matchday:"+c.code; got != want {
			t.Errorf("%v: the type is %q, want %q", c.err, got, want)
		}

		if c.field == "" && len(p.Errors) > 0 || c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Location != c.field) {
			t.Errorf("%v: got the errors %+v, want %q", c.err, p.Errors, c.field)
		}

		if strings.Contains(out.Body, "secret") {
			t.Errorf("%v: leaks into %s", c.err, out.Body)
		}

		if out.Headers["Etag"] != "" || out.Headers["ETag"] != "" {
			t.Errorf("%v: a refusal has an ETag", c.err)
		}
	}

	if len(statuses) != int(problem.Upstream)+1 || slices.Contains(statuses[:], 0) {
		t.Errorf("a kind of problem has no status: %v", statuses)
	}
}

// TestLimits: a refusal of a rate has the time to retry, in whole seconds, and the
// description of the operation has its limits.
func TestLimits(t *testing.T) {
	t.Parallel()

	things := spec.Limit{Name: "overs per user", Max: 6, Code: "too_many_overs"}

	rate := spec.Limit{Name: "attempts", Max: 10, Per: time.Hour, Code: "too_many_attempts"}
	for _, c := range []struct {
		err    error
		status int
		retry  string
	}{
		{problem.Beyond(things), 409, ""},
		{problem.Beyond(rate), 429, "3600"},
		{problem.Beyond(rate).WithRetryAfter(1), 429, "1"},
		{problem.Beyond(rate).WithRetryAfter(90*time.Second + 1), 429, "91"},
		{problem.New(problem.Unavailable, "", "busy").WithRetryAfter(time.Second), 503, "1"},
	} {
		h := Handler(getOver, func(context.Context, *read) (*over, error) { return nil, c.err })

		out := serve(t, h, request(t, "GET", "/overs/7", ""))
		if problemIn(t, out); out.StatusCode != c.status || out.Headers["Retry-After"] != c.retry {
			t.Errorf("%v: got %d, Retry-After %q, want %d, %q", c.err, out.StatusCode, out.Headers["Retry-After"], c.status, c.retry)
		}
	}

	fn := putOver
	fn.Limits = []spec.Limit{things, rate}

	text, err := OpenAPI(fn, writing)
	if err != nil {
		t.Fatal(err)
	}

	var doc struct {
		Paths map[string]map[string]struct {
			Limits    []map[string]any `json:"x-limits"`
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}

	op := doc.Paths["/overs/{id}"]["post"]

	want := []map[string]any{
		{"code": "too_many_overs", "max": 6.0, "name": "overs per user"},
		{"code": "too_many_attempts", "max": 10.0, "name": "attempts", "per": 3600.0},
	}
	if diff := cmp.Diff(want, op.Limits); diff != "" {
		t.Errorf("the limits differ (-want +got):\n%s", diff)
	}

	if op.Responses["409"] == nil || op.Responses["429"] == nil {
		t.Errorf("the statuses of the limits are not described: %v", op.Responses)
	}
}

func TestETag(t *testing.T) {
	t.Parallel()

	h := Handler(getOver, reading)
	first := serve(t, h, request(t, "GET", "/overs/7", ""))

	tag := first.Headers["Etag"]
	if len(tag) != 18 || tag[0] != '"' || tag[17] != '"' {
		t.Fatalf("the ETag is %q", tag)
	}

	if other := serve(t, h, request(t, "GET", "/overs/8", "")).Headers["Etag"]; other == tag {
		t.Errorf("two bodies share the ETag %s", tag)
	}

	for _, c := range []struct {
		header string
		status int
	}{
		{tag, 304},
		{"W/" + tag, 304},
		{"*", 304},
		{`"x", ` + tag, 304},
		{`"x","y" , W/` + tag + ` , "z"`, 304},
		{`"x"`, 200},
		{"", 200},
		{strings.Trim(tag, `"`), 200},
		{`"x, *, y"`, 200},
		{`W/*`, 200},
		{tag[:10] + `"`, 200},
	} {
		e := request(t, "GET", "/overs/7", "")
		e.Headers["if-none-match"] = c.header

		out := serve(t, h, e)
		if out.StatusCode != c.status {
			t.Errorf("If-None-Match: %s: got %d, want %d", c.header, out.StatusCode, c.status)
		}

		if out.Headers["Etag"] != tag || out.Headers["Cache-Control"] != "public, max-age=2" {
			t.Errorf("If-None-Match: %s: the headers are %v", c.header, out.Headers)
		}

		if out.StatusCode == 304 && (out.Body != "" || out.Headers["Content-Type"] != "") {
			t.Errorf("If-None-Match: %s: 304 comes with %q of type %q", c.header, out.Body, out.Headers["Content-Type"])
		}

		if out.StatusCode == 200 && out.Body != first.Body {
			t.Errorf("If-None-Match: %s: got %q", c.header, out.Body)
		}
	}

	e := request(t, "POST", "/overs/7", `{"bowler":"Warne"}`)

	e.Headers["if-none-match"] = "*"
	if out := serve(t, Handler(putOver, writing), e); out.StatusCode != 200 || out.Headers["Etag"] != "" {
		t.Errorf("a POST: got %d with the ETag %q", out.StatusCode, out.Headers["Etag"])
	}
}

// FuzzIfNoneMatch: a tag is found in a list of tags if, and only if, it is one of
// them, however they are spaced; and nothing makes the server fail.
func FuzzIfNoneMatch(f *testing.F) {
	const tag = `"abc"`

	f.Add(`"x"`, "y", true)
	f.Add("W/", "*", false)
	f.Add(",,", "a,b", true)
	f.Fuzz(func(t *testing.T, junk, opaque string, weak bool) {
		matches([]string{junk}, tag)

		opaque = strings.Map(func(r rune) rune {
			if r == '"' || r < '!' || r > '~' { // RFC 9110, 8.8.3: etagc, but for obs-text
				return -1
			}

			return r
		}, opaque)

		other := `"` + opaque + `"`
		if weak {
			other = "W/" + other
		}

		want := opaque == "abc"
		for _, list := range [][]string{{other}, {other + ` , "z"`}, {`"z"`, other}, {`"z"`, "", other}} {
			if got := matches(list, tag); got != want {
				t.Errorf("%q in %q: got %v", tag, list, got)
			}
		}

		if !matches([]string{other + "," + tag}, tag) {
			t.Errorf("%s hides the tag", other)
		}
	})
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		auth     spec.Auth
		security string
		statuses []string
	}{
		{spec.Public, "[]", []string{"200", "400", "403", "404", "413", "415", "422", "429", "500", "503"}},
		{spec.User, `[{"jwt":[]}]`, []string{"200", "400", "401", "403", "404", "413", "415", "422", "429", "500", "503"}},
		{spec.Admin, `[{"jwt":[]}]`, []string{"200", "400", "401", "403", "404", "413", "415", "422", "429", "500", "503"}},
	} {
		fn := putOver
		fn.On = spec.Route{Method: "POST", Path: "/overs/{id}", Auth: c.auth}

		text, err := OpenAPI(fn, writing)
		if err != nil {
			t.Fatal(err)
		}

		var (
			doc struct {
				OpenAPI string
				Info    struct{ Title, Version string }
				Paths   map[string]map[string]struct {
					OperationID, Summary, Description string
					Tags                              []string
					Security                          json.RawMessage
					Parameters                        []struct {
						Name, In string
						Required bool
					}
					RequestBody struct{ Required bool }
					Responses   map[string]struct {
						Description string
						Content     map[string]json.RawMessage
					}
				}
				Components struct {
					SecuritySchemes map[string]struct{ Type, Scheme string }
				}
			}
			tree any
		)
		if err := errors.Join(json.Unmarshal(text, &doc), json.Unmarshal(text, &tree)); err != nil {
			t.Fatal(err)
		}

		op := doc.Paths["/overs/{id}"]["post"]
		if !strings.HasPrefix(doc.OpenAPI, "3.1.") || doc.Info.Title != "Matchday: test" || doc.Info.Version == "" || len(doc.Paths) != 1 {
			t.Errorf("%s: the document is %s", c.auth, text)
		}

		if op.OperationID != "put-over" || op.Summary != "Writes an over" || !strings.HasPrefix(op.Description, "Writes an over. ") ||
			!slices.Equal(op.Tags, []string{"test"}) || !op.RequestBody.Required {
			t.Errorf("%s: the operation is %+v", c.auth, op)
		}

		if len(op.Parameters) != 1 || op.Parameters[0].Name != "id" || op.Parameters[0].In != "path" || !op.Parameters[0].Required {
			t.Errorf("%s: the parameters are %+v", c.auth, op.Parameters)
		}

		if got := strings.Join(strings.Fields(string(op.Security)), ""); got != c.security {
			t.Errorf("%s: the security is %s, want %s", c.auth, got, c.security)
		}

		if s := doc.Components.SecuritySchemes["jwt"]; (s.Type == "http" && s.Scheme == "bearer") != strings.Contains(c.security, "jwt") {
			t.Errorf("%s: the security scheme is %+v", c.auth, s)
		}

		var statuses []string
		for status, r := range op.Responses {
			statuses = append(statuses, status)
			if r.Description == "" || status != "200" && status != "429" && r.Content["application/problem+json"] == nil {
				t.Errorf("%s: %s is described as %+v", c.auth, status, r)
			}
		}

		if slices.Sort(statuses); !slices.Equal(statuses, c.statuses) {
			t.Errorf("%s: the statuses are %v, want %v", c.auth, statuses, c.statuses)
		}

		refs := 0

		walk(tree, func(ref string) {
			refs++

			at := tree
			for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := at.(map[string]any)
				at = m[name]
			}

			if at == nil {
				t.Errorf("%s: nothing is at %s", c.auth, ref)
			}
		})

		if refs == 0 {
			t.Errorf("%s: no schema is referred to", c.auth)
		}
	}
}

// walk gives found every $ref of a JSON document.
func walk(node any, found func(ref string)) {
	switch n := node.(type) {
	case map[string]any:
		if ref, ok := n["$ref"].(string); ok {
			found(ref)
		}

		for _, v := range n {
			walk(v, found)
		}
	case []any:
		for _, v := range n {
			walk(v, found)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	t.Parallel()

	for _, r := range []*http.Request{httptest.NewRequest("GET", "/openapi.json", nil), httptest.NewRequest("GET", "/docs", nil),
		httptest.NewRequest("GET", "/schemas/OverBody.json", nil)} {
		w := httptest.NewRecorder()
		Handler(getOver, reading).ServeHTTP(w, r)

		if w.Code != http.StatusNotFound {
			t.Errorf("%s is answered with %d", r.URL, w.Code)
		}
	}
}

func FuzzPath(f *testing.F) {
	f.Add("/overs/7")
	f.Add("/test/overs/7")
	f.Add("/test/%zz?#")
	f.Fuzz(func(t *testing.T, raw string) {
		if u, err := url.Parse("https://x/?" + query(raw)); err != nil || u.Fragment != "" || u.Path != "/" {
			t.Fatalf("the query %q becomes %v, %v", raw, u, err)
		}

		u, err := url.Parse("https://x" + routePath("test", "/"+raw) + "?a=b")
		if err != nil || u.Host != "x" || u.RawQuery != "a=b" || u.Fragment != "" {
			t.Fatalf("%q becomes %v, %v", raw, u, err)
		}

		if want := "/" + raw; u.Path != want && u.Path != strings.TrimPrefix(want, "/test") {
			t.Fatalf("%q becomes the path %q", raw, u.Path)
		}
	})
}
