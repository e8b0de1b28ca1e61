package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// texts are the status, the code and the detail of a refusal, and its errors with their places.
func texts(t *testing.T, out events.APIGatewayV2HTTPResponse) []string {
	t.Helper()
	p := problemIn(t, out)

	all := []string{fmt.Sprintf("%d %s: %s", out.StatusCode, strings.TrimPrefix(p.Type, problemType), p.Detail)}
	for _, e := range p.Errors {
		all = append(all, e.Location+": "+e.Message)
	}

	return all
}

// TestTextsOfRefusals: what a caller reads of each thing that may be wrong with a request.
func TestTextsOfRefusals(t *testing.T) {
	t.Parallel()

	h, get := notes(), Handler(getOver, reading)
	typed := request(t, "POST", "/overs/7", `{"name":"Ann"}`)
	typed.Headers["content-type"] = "text/plain"
	name := func(text string) events.APIGatewayV2HTTPRequest {
		return request(t, "POST", "/overs/7", `{"name":`+text+`}`)
	}
	with := func(member string) events.APIGatewayV2HTTPRequest {
		return request(t, "POST", "/overs/7", `{"name":"Ann",`+member+`}`)
	}

	const invalid, bad = "422 invalid: validation failed", "400 bad_request: validation failed"
	for _, c := range []struct {
		h    http.Handler
		e    events.APIGatewayV2HTTPRequest
		want []string
	}{
		{h, typed, []string{"415 unsupported_media_type: validation failed", "header.Content-Type: expected application/json"}},
		{h, request(t, "POST", "/overs/7", ""), []string{bad, "body: the request must have a body"}},
		{h, request(t, "POST", "/overs/7", " "), []string{bad, "body: expected valid JSON"}},
		{h, request(t, "POST", "/overs/7", strings.Repeat("x", 64<<10)), []string{bad, "body: expected valid JSON"}},
		{h, request(t, "POST", "/overs/7", strings.Repeat("x", 64<<10+1)),
			[]string{"413 too_large: validation failed", "body: expected at most 65536 bytes"}},
		{h, with(`"name":"Bob"`), []string{bad, "body.name: given more than once"}},
		{h, with(`"kinds":["a",{"b":1,"b":2}]`), []string{bad, "body.kinds[1].b: given more than once"}},
		{h, with(`"x":1`), []string{invalid, "body.x: unexpected property"}},
		{h, request(t, "POST", "/overs/7", `{"Name":"Ann"}`),
			[]string{invalid, "body: expected required property name to be present", "body.Name: unexpected property"}},
		{h, with(`"inside":{"x":1,"deep":[]}`), []string{invalid, "body.inside.x: unexpected property"}},
		{h, with(`"picks":{"m1":3}`), []string{invalid, "body.picks.m1: this value is not valid"}},
		{h, name(`null`), []string{invalid, "body.name: expected a value, not null"}},
		{h, name(`7`), []string{invalid, "body.name: expected string"}},
		{h, name(`""`), []string{invalid, "body.name: expected 1 to 40 characters"}},
		{h, name(`"` + strings.Repeat("x", 41) + `"`), []string{invalid, "body.name: expected 1 to 40 characters"}},
		{h, name(`"\u00ad"`), []string{invalid, "body.name: expected printable characters only: U+00AD is none"}},
		{h, name(`"a\u0301\u0301\u0301\u0301\u0301\u0301"`), []string{invalid, "body.name: expected at most 4 marks on a letter"}},
		{h, name(`"\u0301"`), []string{invalid, "body.name: expected a visible character"}},
		{h, with(`"title":"123456789"`), []string{invalid, "body.title: expected 0 to 8 characters"}},
		{h, with(`"mail":"ann"`), []string{invalid, "body.mail: expected one e-mail address such as ann@example.com"}},
		{h, with(`"runs":9007199254740992`), []string{invalid, "body.runs: expected an integer of at most 9007199254740991"}},
		{h, with(`"runs":-9007199254740992`), []string{invalid, "body.runs: expected an integer of at most 9007199254740991"}},
		{h, with(`"kinds":[{},"a",[]]`), []string{invalid, "body.kinds[0]: expected a single value", "body.kinds[2]: expected a single value"}},
		{h, with(`"kinds":[null]`), []string{invalid, "body.kinds[0]: expected a value, not null"}},
		{h, with(`"picks":{"m1":null}`), []string{invalid, "body.picks.m1: expected a value, not null"}},
		{get, request(t, "GET", "/overs/7?limit=1&limit=2", ""), []string{invalid, "query.limit: given more than once"}},
		{get, request(t, "GET", "/overs/7?limit=%zz", ""), []string{invalid, "query: the query string is malformed"}},
		{get, request(t, "GET", "/elsewhere", ""), []string{"404 not_found: nothing is here"}},
		{get, request(t, "GET", "/overs//7", ""), []string{"404 not_found: nothing is here"}},
		{get, request(t, "POST", "/overs/7", ""), []string{"405 method_not_allowed: the method must be GET"}},
		{Handler(getOver, func(context.Context, *read) (*over, error) { return nil, context.DeadlineExceeded }),
			request(t, "GET", "/overs/7", ""),
			[]string{"503 unavailable: this takes too long at the moment: try again"}},
		{Handler(getOver, func(context.Context, *read) (*over, error) { panic("x") }), request(t, "GET", "/overs/7", ""),
			[]string{"500 internal: something went wrong on our side"}},
	} {
		got := texts(t, serve(t, c.h, c.e))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s %.40s (-want +got):\n%s", c.e.RequestContext.HTTP.Method, c.e.RawPath, c.e.Body, diff)
		}
	}

	r := httptest.NewRequest("POST", "/overs/7", iotest.ErrReader(io.ErrUnexpectedEOF))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	got := texts(t, events.APIGatewayV2HTTPResponse{
		StatusCode: w.Code,
		Headers:    map[string]string{"Content-Type": w.Header().Get("Content-Type")},
		Body:       w.Body.String(),
	})
	if diff := cmp.Diff([]string{bad, "body: the body cannot be read"}, got); diff != "" {
		t.Errorf("a body that breaks off (-want +got):\n%s", diff)
	}
}

// TestErrorsAreFewAndShort: a refusal has at most ten errors, in the order of their places, each of
// at most 200 bytes.
func TestErrorsAreFewAndShort(t *testing.T) {
	t.Parallel()

	for n, want := range map[int]int{1: 1, 10: 10, 11: 10} {
		var body strings.Builder
		body.WriteString(`{"name":"Ann"`)

		for i := range n {
			fmt.Fprintf(&body, `,"x%02d":1`, n-i)
		}

		body.WriteString("}")
		p := problemIn(t, serve(t, notes(), request(t, "POST", "/overs/7", body.String())))

		var places []string
		for _, e := range p.Errors {
			places = append(places, e.Location)
		}

		if len(places) != want || !slices.IsSorted(places) || places[0] != "body.x01" {
			t.Errorf("%d wrong members: the errors are in %v, want the first %d in order", n, places, want)
		}
	}

	for n, want := range map[int]int{195: 200, 196: 200} { // after "body."
		p := problemIn(t, serve(t, notes(), request(t, "POST", "/overs/7", `{"name":"Ann","`+strings.Repeat("y", n)+`":1}`)))
		if got := len(p.Errors[0].Location); got != want {
			t.Errorf("a member of %d bytes: a place of %d bytes, want %d", n, got, want)
		}
	}
}

// TestProblemsHaveMembers: the members of a problem, the title of its status, and its field stand in
// the document; what cannot be encoded is an internal error.
func TestProblemsHaveMembers(t *testing.T) {
	t.Parallel()

	answer := func(err error) (map[string]any, int) {
		out := serve(t, Handler(getOver, func(context.Context, *read) (*over, error) { return nil, err }), request(t, "GET", "/overs/7", ""))

		var body map[string]any
		if err := json.Unmarshal([]byte(out.Body), &body); err != nil {
			t.Fatalf("%v: %s", err, out.Body)
		}

		return body, out.StatusCode
	}
	locked := problem.New(problem.Conflict, "event_locked", "locked").In("body.picks")
	want := map[string]any{
		"type": "urn:problem-type:matchday:event_locked", "title": "Conflict", "status": 409.0, "detail": "locked",
		"errors": []any{map[string]any{"message": "locked", "location": "body.picks"}},
	}

	got, _ := answer(locked)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}

	want["lockAt"], want["max"] = "noon", 7.0

	got, _ = answer(locked.With(map[string]any{"lockAt": "noon", "max": 7}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with more members (-want +got):\n%s", diff)
	}

	if got, status := answer(locked.With(map[string]any{"bad": func() {}})); status != 500 || got["title"] != "Internal Server Error" {
		t.Errorf("a member that is no JSON: %d %v", status, got)
	}
}

// TestRefusalsAreLogged: a defect of ours is an error of the log, a refusal is not. Both have the
// status and the cause.
func TestRefusalsAreLogged(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{problem.New(problem.Conflict, "event_locked", "locked").Because(io.EOF), "INFO refused 409 locked: EOF"},
		{problem.New(problem.Internal, "", "lost"), "ERROR refused 500 lost"},
		{problem.New(problem.Unavailable, "", "busy"), "ERROR refused 503 busy"},
		{io.EOF, "ERROR refused 500 EOF"},
	} {
		var b bytes.Buffer

		old := slog.Default()

		slog.SetDefault(slog.New(slog.NewJSONHandler(&b, nil)))
		serve(t, Handler(getOver, func(context.Context, *read) (*over, error) { return nil, c.err }), request(t, "GET", "/overs/7", ""))
		slog.SetDefault(old)

		var line map[string]any
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, b.String())
		}

		if got := fmt.Sprint(line["level"], " ", line["msg"], " ", line["status"], " ", line["err"]); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestWritesOfAUserAreChecked: the context of a function that checks for deleted users requires
// that the caller is none; that of another function, and of a caller without a token, does not.
func TestWritesOfAUserAreChecked(t *testing.T) {
	t.Parallel()

	jwt := &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "ann"}},
	}

	other := spec.Table{Name: "others"}.On("Other", "", spec.Rate{}, spec.GetItem)
	for name, c := range map[string]struct {
		uses       []spec.Access
		authorizer *events.APIGatewayV2HTTPRequestContextAuthorizerDescription
		want       string
	}{
		"a write of a user":    {[]spec.Access{other, account.CheckDeleted}, jwt, "ann"},
		"a read of a user":     {[]spec.Access{other}, jwt, ""},
		"a write of anybody":   {[]spec.Access{account.CheckDeleted}, nil, ""},
		"of another authority": {[]spec.Access{account.CheckDeleted}, &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{}, ""},
	} {
		fn := getOver
		fn.Uses = c.uses
		got := ""
		do := Lambda(fn, nil, func(ctx context.Context, in *read) (*over, error) {
			if r, ok := dynamo.Required(ctx); ok {
				if key, ok := r.Key["userId"].(*types.AttributeValueMemberS); ok && errors.Is(r.Err, account.ErrDeleted) {
					got = key.Value
				}
			}

			return reading(ctx, in)
		})
		e := request(t, "GET", "/overs/7", "")

		e.RequestContext.Authorizer = c.authorizer
		if out, err := do(t.Context(), e); err != nil || out.StatusCode != 200 || got != c.want {
			t.Errorf("%s: %d, %v, the requirement is of %q; want %q", name, out.StatusCode, err, got, c.want)
		}
	}
}

// TestTimeForTheAnswer: the use case has half a second less than the invocation.
func TestTimeForTheAnswer(t *testing.T) {
	t.Parallel()

	end := time.Now().Add(time.Hour)

	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()

	do := Lambda(getOver, nil, func(ctx context.Context, in *read) (*over, error) {
		if at, ok := ctx.Deadline(); !ok || end.Sub(at) != 500*time.Millisecond {
			t.Errorf("the use case ends %s before the invocation, want 500ms", end.Sub(at))
		}

		return reading(ctx, in)
	})
	if out, err := do(ctx, request(t, "GET", "/overs/7", "")); err != nil || out.StatusCode != 200 {
		t.Errorf("got %d, %v", out.StatusCode, err)
	}
}

// TestPathsAndQueriesOfTheGateway: the room's base path is taken off, and what no URL may have is
// escaped.
func TestPathsAndQueriesOfTheGateway(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		"/test/overs/7": "/overs/7",
		"/overs/7":      "/overs/7",
		"/test":         "/test",
		"/testing/7":    "/testing/7",
		"/overs/a b":    "/overs/a%20b",
		"/test/test/7":  "/test/7",
	} {
		if got := routePath("test", raw); got != want {
			t.Errorf("path %q: got %q, want %q", raw, got, want)
		}
	}

	for raw, want := range map[string]string{
		"":          "",
		"a=b&c=%20": "a=b&c=%20",
		"a b":       "a%20b",
		"a#b":       "a%23b",
		"a\x7fb":    "a%7Fb",
		"a\x00\nb":  "a%00%0Ab",
		"!~\x80":    "!~\x80",
	} {
		if got := query(raw); got != want {
			t.Errorf("query %q: got %q, want %q", raw, got, want)
		}
	}
}

// TestRemoved: the answer to a removal, and a page that is no longer there.
func TestRemoved(t *testing.T) {
	t.Parallel()

	if diff := cmp.Diff(&Removed{Status: 204}, NewRemoved()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	want := &problem.Error{Kind: problem.Invalid, Code: "bad_cursor", Text: "this page is no longer there: begin again", Field: "query.cursor"}
	if diff := cmp.Diff(want, ErrBadCursor); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// described is an answer with a header of its own.
type described struct {
	Status int
	Etag   string `header:"X-Version"`
	Cache  string `header:"Cache-Control"`
	Body   struct {
		Next  string   `json:"next,omitempty"`
		Name  string   `json:"name" format:"display-name" doc:"Who."`
		Short string   `json:"short" format:"display-name" minLength:"2" maxLength:"8"`
		Mail  string   `json:"mail" format:"email"`
		Names []string `json:"names" format:"display-name"`
		Count int      `json:"count"`
	}
}

// TestDescriptions: what the description of an operation has beside that which huma makes of its
// types.
func TestDescriptions(t *testing.T) {
	t.Parallel()

	type page struct {
		Limit  int    `query:"limit"`
		Cursor string `query:"cursor" doc:"Where to go on."`
		Other  string `query:"other"`
	}

	type change struct {
		Body struct {
			Name string `json:"name" format:"display-name"`
			Mail string `json:"mail,omitempty" format:"email"`
		}
	}

	get := spec.Function{
		Name:   "test/list-overs",
		Does:   "Lists overs.",
		On:     spec.Route{Method: "GET", Path: "/overs", Auth: spec.Public},
		Limits: []spec.Limit{{Name: "reads", Max: 3, Per: time.Minute, Code: "too_many_reads"}},
	}
	put := spec.Function{
		Name: "test/make-over",
		Does: "Makes an over.",
		On:   spec.Route{Method: "POST", Path: "/overs", Auth: spec.Admin, Answers: []int{201, 200}},
	}

	list, err := OpenAPI(get, func(context.Context, *page) (*described, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}

	write, err := OpenAPI(put, func(context.Context, *change) (*described, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}

	at := func(text []byte, path ...string) any {
		var node any
		if err := json.Unmarshal(text, &node); err != nil {
			t.Fatal(err)
		}

		for _, name := range path {
			m, ok := node.(map[string]any)
			if !ok {
				return nil
			}

			node = m[name]
		}

		return node
	}
	keys := func(v any) (names []string) {
		m, _ := v.(map[string]any)
		for name := range m {
			names = append(names, name)
		}

		slices.Sort(names)

		return names
	}
	param := func(i int) []any {
		p := at(list, "paths", "/overs", "get", "parameters").([]any)[i].(map[string]any)
		schema := p["schema"].(map[string]any)

		return []any{p["name"], p["description"], schema["description"]}
	}
	member := func(name string) map[string]any {
		for _, schema := range []string{"DescribedBody"} {
			if m, ok := at(list, "components", "schemas", schema, "properties", name).(map[string]any); ok {
				return m
			}
		}

		return nil
	}

	op := func(text []byte, method string, path ...string) any {
		return at(text, append([]string{"paths", "/overs", method}, path...)...)
	}
	for name, c := range map[string]struct{ got, want any }{
		"title": {at(list, "info", "description"),
			"The operations of the room test. Every error of an operation is a problem document (RFC 9457) whose type ends in a stable code. " +
				"What API Gateway refuses before that, such as a token that is missing or has expired, is JSON with a message: " +
				"{\"message\":\"Unauthorized\"}."},
		"tags": {at(list, "tags"), []any{map[string]any{"name": "test", "description": "The room test."}}},
		"token": {at(write, "components", "securitySchemes", "jwt"),
			map[string]any{
				"type":         "http",
				"scheme":       "bearer",
				"bearerFormat": "JWT",
				"description":  "An access token: of the user pool of users, and of that of administrators for the operations of administrators.",
			}},
		"no token":       {at(list, "components", "securitySchemes", "jwt"), nil},
		"who":            {op(list, "get", "description"), "Lists overs. Anybody may call it."},
		"who writes":     {op(write, "post", "description"), "Makes an over. Administrators may call it."},
		"limit":          {param(0), []any{"limit", common["limit"], common["limit"]}},
		"cursor":         {param(1), []any{"cursor", "Where to go on.", "Where to go on."}},
		"other":          {param(2), []any{"other", nil, nil}},
		"answers of GET": {keys(op(list, "get", "responses")), []string{"200", "304", "400", "403", "404", "422", "429", "500", "503"}},
		"answers of POST": {keys(op(write, "post", "responses")),
			[]string{"200", "201", "400", "401", "403", "404", "413", "415", "422", "429", "500", "503"}},
		"unchanged":        {op(list, "get", "responses", "304"), map[string]any{"description": "The client has this version already."}},
		"the other answer": {op(write, "post", "responses", "200", "description"), "OK"},
		"the usual answer": {op(write, "post", "responses", "201", "description"), "Created"},
		"same body":        {op(write, "post", "responses", "200", "content"), op(write, "post", "responses", "201", "content")},
		"headers of GET":   {keys(op(list, "get", "responses", "200", "headers")), []string{"Cache-Control", "ETag", "X-Version"}},
		"ETag": {op(list, "get", "responses", "200", "headers", "ETag"),
			map[string]any{"description": common["ETag"], "schema": map[string]any{"type": "string", "description": common["ETag"]}}},
		"Cache-Control": {op(list, "get", "responses", "200", "headers", "Cache-Control"),
			map[string]any{
				"description": common["Cache-Control"],
				"schema":      map[string]any{"type": "string", "description": common["Cache-Control"]},
			}},
		"no ETag of POST": {keys(op(write, "post", "responses", "201", "headers")), []string{"Cache-Control", "X-Version"}},
		"Retry-After": {op(list, "get", "responses", "429", "headers"),
			map[string]any{
				"RateLimit":        map[string]any{"description": common["RateLimit"], "schema": map[string]any{"type": "string"}},
				"RateLimit-Policy": map[string]any{"description": common["RateLimit-Policy"], "schema": map[string]any{"type": "string"}},
				"Retry-After":      map[string]any{"description": common["Retry-After"], "schema": map[string]any{"type": "integer"}},
			}},
		"no Retry-After": {op(list, "get", "responses", "503", "headers"), nil},
		"example": {op(write, "post", "requestBody", "content", "application/json", "example"),
			map[string]any{"name": "Ann", "mail": "ann@example.com"}},
		"next": {member("next")["description"], common["next"]},
		"name": {
			[]any{member("name")["description"], member("name")["minLength"], member("name")["maxLength"]},
			[]any{"Who.", 1.0, 40.0},
		},
		"short": {[]any{member("short")["minLength"], member("short")["maxLength"]}, []any{2.0, 8.0}},
		"mail":  {[]any{member("mail")["minLength"], member("mail")["maxLength"]}, []any{nil, 128.0}},
		"count": {
			[]any{member("count")["minLength"], member("count")["maxLength"], member("count")["description"]},
			[]any{nil, nil, nil},
		},
		"no refused value": {keys(at(list, "components", "schemas", "ErrorDetail", "properties")), []string{"location", "message"}},
		"limits": {op(list, "get", "x-limits"),
			[]any{map[string]any{"name": "reads", "code": "too_many_reads", "max": 3.0, "per": 60.0}}},
		"no limits": {op(write, "post", "x-limits"), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	names, _ := member("names")["items"].(map[string]any)
	if diff := cmp.Diff([]any{1.0, 40.0}, []any{names["minLength"], names["maxLength"]}); diff != "" {
		t.Errorf("the names of a list (-want +got):\n%s", diff)
	}
}

// TestStatusOfAnAnswer: the first of a route's answers is the usual one.
func TestStatusOfAnAnswer(t *testing.T) {
	t.Parallel()

	fn := putOver

	fn.On = spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.Public, Answers: []int{201, 200}}
	if out := serve(t, Handler(fn, writing), request(t, "POST", "/overs/7", `{"bowler":"Warne"}`)); out.StatusCode != 201 {
		t.Errorf("got %d %s, want 201", out.StatusCode, out.Body)
	}

	if _, err := displayed("a\xff", 0, 9); err == nil || err.Error() != "expected valid UTF-8" {
		t.Errorf("invalid UTF-8: %v", err)
	}

	if err := errors.Join(checkAddress("ann@example.com"), checkAddress(strings.Repeat("a", 64)+"@example.com")); err != nil {
		t.Error(err)
	}
}

// TestNoStoreIsTheDefault: caches keep an answer only if it allows that, and of a public route also
// what is refused.
func TestNoStoreIsTheDefault(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		auth   spec.Auth
		status int
		given  string
		want   string
	}{
		{spec.User, 200, "", NoStore},
		{spec.Session, 404, "", NoStore},
		{spec.Browser, 302, "", NoStore},
		{spec.Public, 200, "", NoStore},
		{spec.Public, 404, "", ""},
		{spec.Public, 200, "public, max-age=2", "public, max-age=2"},
		{spec.User, 200, "private, max-age=5", "private, max-age=5"},
	} {
		w := httptest.NewRecorder()
		buffered(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.given != "" {
				w.Header().Set("Cache-Control", c.given)
			}

			w.WriteHeader(c.status)
		}), spec.Function{On: spec.Route{Auth: c.auth}}, nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))

		if got := w.Header().Get("Cache-Control"); got != c.want {
			t.Errorf("%s, %d, %q: got %q, want %q", c.auth, c.status, c.given, got, c.want)
		}
	}
}

// TestPanicLeavesNothingOfTheAnswer: what was written before a panic is not sent.
func TestPanicLeavesNothingOfTheAnswer(t *testing.T) {
	logged(t)

	w := httptest.NewRecorder()
	buffered(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Half", "1")
		w.Write([]byte("half"))
		panic("x")
	}), spec.Function{On: spec.Route{Auth: spec.Public}}, nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))

	if w.Code != 500 || w.Header().Get("X-Half") != "" || strings.Contains(w.Body.String(), "half") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}

	w = httptest.NewRecorder()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("x")) })
	buffered(h, spec.Function{On: spec.Route{Auth: spec.Public}}, nil).ServeHTTP(w, httptest.NewRequest("POST", "/", nil))

	if w.Code != 200 || w.Body.String() != "x" || w.Header().Get("ETag") != "" {
		t.Errorf("an answer without a status: %d %v %q", w.Code, w.Header(), w.Body)
	}
}
