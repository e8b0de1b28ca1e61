package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// door identifies callers by the header x-user.
type door func(context.Context, events.APIGatewayV2HTTPRequest) (string, error)

func (d door) Identify(ctx context.Context, e events.APIGatewayV2HTTPRequest) (string, error) {
	return d(ctx, e)
}

// CheckOrigin refuses the pages of evil.example.
func (d door) CheckOrigin(e events.APIGatewayV2HTTPRequest) error {
	if e.Headers["origin"] == "https://evil.example" {
		return errOrigin
	}

	return nil
}

var errOrigin = problem.New(problem.Denied, "wrong_origin", "this request must come from a page of the app")

var errNoSession = problem.New(problem.Unauthenticated, "missing_session", "sign in first")

func byHeader(_ context.Context, e events.APIGatewayV2HTTPRequest) (string, error) {
	if user := e.Headers["x-user"]; user != "" {
		return user, nil
	}

	return "", errNoSession
}

// mine is a request of a caller.
type mine struct {
	auth.User
	ID string `path:"id"`
}

func readMine(_ context.Context, in *mine) (*over, error) { return answered(in.UserID) }

// routeOf is getOver for some callers.
func routeOf(a spec.Auth, uses ...spec.Access) spec.Function {
	fn := getOver
	fn.On, fn.Uses = spec.Route{Method: "GET", Path: "/overs/{id}", Auth: a}, uses

	return fn
}

// TestSessionIdentifiesTheCaller: to a use case the caller of a route for sessions is a user as
// any other. Whom the session does not identify is refused before anything else is read.
func TestSessionIdentifiesTheCaller(t *testing.T) {
	t.Parallel()

	busy := problem.New(problem.Unavailable, "", "busy").WithRetryAfter(1500 * time.Millisecond)

	type answer struct {
		Status                   int
		User, Type, Cache, Retry string
	}

	for name, c := range map[string]struct {
		by     door
		user   string
		target string
		want   answer
	}{
		"a user":             {byHeader, "ann", "/overs/7", answer{200, "ann", "", "public, max-age=2", ""}},
		"nobody":             {byHeader, "", "/overs/7", answer{401, "", "missing_session", NoStore, ""}},
		"nobody, of no path": {byHeader, "", "/nowhere?x=1", answer{401, "", "missing_session", NoStore, ""}},
		"busy": {func(context.Context, events.APIGatewayV2HTTPRequest) (string, error) { return "ann", busy }, "", "/overs/7",
			answer{503, "", "unavailable", NoStore, "2"}},
		"a defect": {func(context.Context, events.APIGatewayV2HTTPRequest) (string, error) { return "", errors.New("secret") }, "", "/overs/7",
			answer{500, "", "internal", NoStore, ""}},
	} {
		e := request(t, "GET", c.target, "")
		e.Headers["x-user"] = c.user

		out, err := Lambda(routeOf(spec.Session), c.by, readMine)(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}

		got := answer{Status: out.StatusCode, Cache: out.Headers["Cache-Control"], Retry: out.Headers["Retry-After"]}
		if out.StatusCode == 200 {
			var body struct{ Text string }
			if err := json.Unmarshal([]byte(out.Body), &body); err != nil {
				t.Fatal(err)
			}

			got.User = body.Text
		} else {
			got.Type = strings.TrimPrefix(problemIn(t, out).Type, problemType)
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// lobby is a door that sends those whom it refuses to a page, unless they want JSON.
type lobby struct{ door }

func (lobby) Land(_ context.Context, e events.APIGatewayV2HTTPRequest, err error) string {
	if e.Headers["accept"] == "application/json" {
		return ""
	}

	return "https://app.example.com/?reason=" + err.Error()
}

// TestLanderSendsTheRefusedElsewhere: the refusal is the answer only if the Lander has no page, and nobody is sent
// elsewhere who is identified.
func TestLanderSendsTheRefusedElsewhere(t *testing.T) {
	t.Parallel()

	type answer struct {
		Status          int
		Location, Cache string
	}

	for name, c := range map[string]struct {
		user, accept string
		want         answer
	}{
		"a user":             {"ann", "text/html", answer{200, "", "public, max-age=2"}},
		"nobody":             {"", "text/html", answer{302, "https://app.example.com/?reason=sign in first", NoStore}},
		"nobody, for a page": {"", "application/json", answer{401, "", NoStore}},
	} {
		e := request(t, "GET", "/overs/7", "")
		e.Headers["x-user"], e.Headers["accept"] = c.user, c.accept

		out, err := Lambda(routeOf(spec.Session), lobby{byHeader}, readMine)(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(c.want, answer{out.StatusCode, out.Headers["Location"], out.Headers["Cache-Control"]}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSessionEndsBeforeTheInvocation: to identify the caller takes no more time than the use
// case has, and an address that is not the CDN's identifies nobody.
func TestSessionEndsBeforeTheInvocation(t *testing.T) {
	t.Parallel()

	end, asked := time.Now().Add(time.Hour), 0

	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()

	do := Lambda(routeOf(spec.Session), door(func(ctx context.Context, _ events.APIGatewayV2HTTPRequest) (string, error) {
		asked++

		if at, ok := ctx.Deadline(); !ok || end.Sub(at) != answerTime {
			t.Errorf("the caller is identified until %v before the end, want %v", end.Sub(at), answerTime)
		}

		return "ann", nil
	}), readMine)

	e := request(t, "GET", "/overs/7", "")
	if out, err := do(ctx, e); err != nil || out.StatusCode != 200 || asked != 1 {
		t.Errorf("got %d, %v, after %d identifications", out.StatusCode, err, asked)
	}

	e.StageVariables = map[string]string{spec.CDNKeys: "k"}
	if out, err := do(ctx, e); err != nil || out.StatusCode != 403 || asked != 1 {
		t.Errorf("not through the CDN: got %d, %v, after %d identifications", out.StatusCode, err, asked)
	}
}

// TestWhoIdentifies: a route for sessions needs somebody who identifies callers, and no other route
// asks for the caller. A route for browsers refuses the pages of other sites, and other routes do not
// ask for the page.
func TestWhoIdentifies(t *testing.T) {
	t.Parallel()

	never := door(func(context.Context, events.APIGatewayV2HTTPRequest) (string, error) {
		t.Error("the caller is identified")
		return "ann", nil
	})
	for _, c := range []struct {
		auth    spec.Auth
		by      Identifier
		foreign int // the answer to a page of another site
	}{{spec.Public, nil, 200}, {spec.Public, never, 200}, {spec.Browser, never, 403}} {
		for origin, want := range map[string]int{"": 200, "https://app.example.com": 200, "https://evil.example": c.foreign} {
			e := request(t, "GET", "/overs/7", "")
			if origin != "" {
				e.Headers["origin"] = origin
			}

			out, err := Lambda(routeOf(c.auth), c.by, reading)(t.Context(), e)
			if err != nil || out.StatusCode != want {
				t.Errorf("%s, a page of %q: got %d, %v, want %d", c.auth, origin, out.StatusCode, err, want)
			}
		}
	}

	for _, a := range []spec.Auth{spec.Session, spec.Browser} {
		func() {
			defer func() {
				want := "test/get-over is for callers with a session or a browser, and nothing identifies them"
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%s: got %s, want %s", a, got, want)
				}
			}()

			Lambda(routeOf(a), nil, readMine)
		}()
	}
}

// TestWritesOfASessionAreChecked: a deleted user writes nothing by a session either. On a route
// for browsers the token does not identify the writer.
func TestWritesOfASessionAreChecked(t *testing.T) {
	t.Parallel()

	for a, want := range map[spec.Auth]string{spec.Session: "ann", spec.Browser: ""} {
		got := ""
		e := request(t, "GET", "/overs/7", "")
		e.Headers["x-user"] = "ann"
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "eve"}},
		}

		out, err := Lambda(routeOf(a, account.CheckDeleted), door(byHeader), func(ctx context.Context, in *mine) (*over, error) {
			if r, ok := dynamo.Required(ctx); ok {
				got = r.Key["userId"].(*types.AttributeValueMemberS).Value
			}

			return readMine(ctx, in)
		})(t.Context(), e)
		if err != nil || out.StatusCode != 200 || got != want {
			t.Errorf("%s: %d, %v, the requirement is of %q, want %q", a, out.StatusCode, err, got, want)
		}
	}
}

// TestRefusalThatIsNoJSON: members that cannot be encoded are a defect, which is not answered
// as if it were a refusal.
func TestRefusalThatIsNoJSON(t *testing.T) {
	t.Parallel()

	defer func() {
		if recover() == nil {
			t.Error("it was answered")
		}
	}()

	refusal(t.Context(), errNoSession.With(map[string]any{"bad": func() {}}))
}

// TestSessionsAreDescribed: the description has the cookie by which a route identifies its callers.
func TestSessionsAreDescribed(t *testing.T) {
	t.Parallel()

	type described struct {
		Security []map[string][]string
		Schemes  map[string]map[string]string
		Refusals []string // 401, 403 and 409, if they are listed
		Headers  []string // of 401
	}

	cookie := map[string]map[string]string{
		"session": {"type": "apiKey", "in": "cookie", "name": "__Host-test_session", "description": "The cookie that the sign-in sets."},
		"bearer": {
			"type": "http", "scheme": "bearer",
			"description": "The token of a native app, in place of the cookie. Then the request needs no Origin.",
		},
	}
	for a, want := range map[spec.Auth]described{
		spec.Session: {[]map[string][]string{{"session": {}}, {"bearer": {}}}, cookie, []string{"401", "403"},
			[]string{"WWW-Authenticate"}},
		spec.Browser: {[]map[string][]string{}, nil, []string{"403"}, nil},
		spec.Public:  {[]map[string][]string{}, nil, []string{"403"}, nil},
	} {
		text, err := OpenAPI(routeOf(a), reading)
		if err != nil {
			t.Fatal(err)
		}

		var doc struct {
			Paths map[string]map[string]struct {
				Security  []map[string][]string
				Responses map[string]struct{ Headers map[string]any }
			}
			Components struct{ SecuritySchemes map[string]map[string]string }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}

		op := doc.Paths["/overs/{id}"]["get"]

		got := described{
			Security: op.Security, Schemes: doc.Components.SecuritySchemes, Headers: slices.Collect(maps.Keys(op.Responses["401"].Headers)),
		}
		for status := range op.Responses {
			if slices.Contains([]string{"401", "403", "409", "418"}, status) {
				got.Refusals = append(got.Refusals, status)
			}
		}

		slices.Sort(got.Refusals)

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a, diff)
		}
	}
}

// TestRefusedCallersAreChallenged: a refusal of a caller says that a native app sends a bearer token, and what is wrong with
// the one that was sent. Other refusals with the same status do not.
func TestRefusedCallersAreChallenged(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		err  error
		want string
	}{
		{session.ErrMissing, "Bearer"},
		{session.ErrInvalid, "Bearer"},
		{session.ErrToken, `Bearer error="invalid_token"`},
		{session.ErrToken.Because(io.EOF), `Bearer error="invalid_token"`},
		{session.ErrBoth, `Bearer error="invalid_request"`},
		{problem.New(problem.Unauthenticated, "invalid_secret", "guessed"), ""},
		{session.ErrOrigin, ""},
	} {
		by := door(func(context.Context, events.APIGatewayV2HTTPRequest) (string, error) { return "", c.err })

		out, err := Lambda(routeOf(spec.Session), by, readMine)(t.Context(), request(t, "GET", "/overs/7", ""))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(c.want, out.Headers["Www-Authenticate"]); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, diff)
		}
	}
}

// TestRoomOfAnAdministrator: the administrators of a route are those of its room.
func TestRoomOfAnAdministrator(t *testing.T) {
	t.Parallel()

	type in struct {
		auth.Admin
		ID string `path:"id"`
	}

	for group, status := range map[string]int{"[test-admin]": 200, "[other-admin]": 403} {
		e := request(t, "GET", "/overs/7", "")
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "eve", "cognito:groups": group}},
		}

		out, err := Lambda(routeOf(spec.Admin), nil, func(context.Context, *in) (*over, error) { return answered("") })(t.Context(), e)
		if err != nil || out.StatusCode != status {
			t.Errorf("%s: got %d, %v, want %d", group, out.StatusCode, err, status)
		}
	}
}
