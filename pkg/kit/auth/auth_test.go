package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

type asUser struct {
	auth.User
	Body struct {
		Text string `json:"text,omitempty"`
	}
}

type asAdmin struct {
	auth.Admin
	Body struct {
		Text string `json:"text,omitempty"`
	}
}

type anyone struct {
	Body struct {
		Text string `json:"text,omitempty"`
	}
}

type who struct {
	Body struct {
		ID string `json:"id"`
	}
}

func answered(id string) (*who, error) {
	w := &who{}
	w.Body.ID = id

	return w, nil
}

func function(a spec.Auth) spec.Function {
	return spec.Function{Name: "test/put-note", Does: "Writes a note.", On: spec.Route{Method: "POST", Path: "/notes", Auth: a}}
}

func user() http.Handler {
	return httpapi.Handler(function(spec.User), func(_ context.Context, in *asUser) (*who, error) { return answered(in.UserID) })
}

func admin() http.Handler {
	return httpapi.Handler(function(spec.Admin), func(_ context.Context, in *asAdmin) (*who, error) { return answered(in.UserID) })
}

// signed is a request whose token's claims, if any, API Gateway has verified.
func signed(claims map[string]string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "POST /notes", RawPath: "/notes", Body: `{}`,
		Headers: map[string]string{"content-type": "application/json", "host": "api.example.com"},
	}

	e.RequestContext.HTTP.Method, e.RequestContext.HTTP.Path, e.RequestContext.DomainName = "POST", "/notes", "api.example.com"
	if claims != nil {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims},
		}
	}

	return e
}

func serve(t *testing.T, h http.Handler, e events.APIGatewayV2HTTPRequest) (status int, id, text string) {
	t.Helper()

	out, err := httpadapter.NewV2(h).ProxyWithContext(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}

	var body struct{ ID string }
	if err := json.Unmarshal([]byte(out.Body), &body); err != nil {
		t.Fatalf("%v: %s", err, out.Body)
	}

	return out.StatusCode, body.ID, out.Body
}

func TestWhoMayCall(t *testing.T) {
	t.Parallel()

	groups := func(list string) map[string]string { return map[string]string{"sub": "u1", "cognito:groups": list} }
	for _, c := range []struct {
		name        string
		claims      map[string]string
		user, admin int
	}{
		{"nobody", nil, 401, 401},
		{"a token without a subject", map[string]string{"scope": "read"}, 401, 401},
		{"an admin without a subject", map[string]string{"cognito:groups": "[test-admin]"}, 401, 401},
		{"a user", map[string]string{"sub": "u1"}, 200, 403},
		{"an admin", groups("[test-admin]"), 200, 200},
		{"an admin of another room", groups("[other-admin]"), 200, 403},
		{"an admin among others", groups("[editors test-admin scorers]"), 200, 200},
		{"the last is admin", groups("[editors test-admin]"), 200, 200},
		{"no groups", groups("[]"), 200, 403},
		{"empty", groups(""), 200, 403},
		{"another group", groups("[administrators]"), 200, 403},
		{"a part of a name", groups("[no-admin admin-not]"), 200, 403},
		{"another case", groups("[Test-admin]"), 200, 403},
		{"a name in brackets", groups("[[test-admin]]"), 200, 403},
		{"a name that begins with a bracket", groups("[[test-admin]"), 200, 403},
		{"a name that ends with a bracket", groups("[test-admin]]"), 200, 403},
		{"a list that does not end", groups("[test-admin"), 200, 403},
		{"a list that does not begin", groups("test-admin]"), 200, 403},
		{"a claim that is no list", groups("test-admin"), 200, 403},
	} {
		if got, id, text := serve(t, user(), signed(c.claims)); got != c.user || got == 200 && id != "u1" {
			t.Errorf("%s on a user's route: got %d %s, want %d", c.name, got, text, c.user)
		}

		if got, id, text := serve(t, admin(), signed(c.claims)); got != c.admin || got == 200 && id != "u1" {
			t.Errorf("%s on an admin's route: got %d %s, want %d", c.name, got, text, c.admin)
		}
	}

	other := signed(nil)

	other.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: map[string]any{"sub": "u1"}}
	for name, h := range map[string]http.Handler{"user": user(), "admin": admin()} {
		if got, _, text := serve(t, h, other); got != 401 {
			t.Errorf("the token of another authorizer on a route of the %s: got %d %s, want 401", name, got, text)
		}
	}

	public := httpapi.Handler(function(spec.Public), func(context.Context, *anyone) (*who, error) { return answered("") })
	if got, _, text := serve(t, public, signed(nil)); got != 200 {
		t.Errorf("a public route: got %d %s", got, text)
	}
}

// TestRefusedCallerGetsNoDetails sends invalid bodies: only a caller who may call learns what is
// wrong with them.
func TestRefusedCallerGetsNoDetails(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		h      http.Handler
		claims map[string]string
		status int
		detail string // "" if the answer may list errors
	}{
		"nobody":           {user(), nil, 401, "sign in first"},
		"no administrator": {admin(), map[string]string{"sub": "u1"}, 403, "this is for administrators"},
		"a user":           {user(), map[string]string{"sub": "u1"}, 422, ""},
	} {
		for _, body := range []string{`{"text":7}`, `{"unknown":1}`} {
			e := signed(c.claims)
			e.Body = body
			status, _, text := serve(t, c.h, e)

			var doc struct {
				Detail string
				Errors []struct{ Location string }
			}
			if err := json.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatal(err)
			}

			if status != c.status || c.detail != "" && doc.Detail != c.detail || (len(doc.Errors) > 0) != (c.detail == "") {
				t.Errorf("%s sends %s: got %d %s, want %d %q", name, body, status, text, c.status, c.detail)
			}
		}
	}
}

// TestForgery tries to be somebody by everything that a client can send.
func TestForgery(t *testing.T) {
	t.Parallel()

	forged, err := json.Marshal(signed(map[string]string{"sub": "victim", "cognito:groups": "[test-admin]"}).RequestContext)
	if err != nil {
		t.Fatal(err)
	}

	for name, forge := range map[string]func(*events.APIGatewayV2HTTPRequest){
		"body":           func(e *events.APIGatewayV2HTTPRequest) { e.Body = `{"UserID":"victim"}` },
		"body, lower":    func(e *events.APIGatewayV2HTTPRequest) { e.Body = `{"userId":"victim","sub":"victim"}` },
		"body, embedded": func(e *events.APIGatewayV2HTTPRequest) { e.Body = `{"User":{"UserID":"victim"}}` },
		"query":          func(e *events.APIGatewayV2HTTPRequest) { e.RawQueryString = "UserID=victim&userId=victim&-=victim" },
		"header": func(e *events.APIGatewayV2HTTPRequest) {
			for _, h := range []string{"userid", "user-id", "x-user-id", "sub"} {
				e.Headers[h] = "victim"
			}
		},
		"proxy's header": func(e *events.APIGatewayV2HTTPRequest) {
			e.Headers["x-golambdaproxy-apigw-context"] = string(forged)
			e.Headers["x-golambdaproxy-apigw-stagevars"] = `{}`
		},
		"unverified token": func(e *events.APIGatewayV2HTTPRequest) {
			e.Headers["authorization"] = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ2aWN0aW0ifQ."
		},
		"cookie": func(e *events.APIGatewayV2HTTPRequest) { e.Cookies = []string{"UserID=victim", "sub=victim"} },
		"stage":  func(e *events.APIGatewayV2HTTPRequest) { e.StageVariables = map[string]string{"sub": "victim"} },
		"Lambda authorizer": func(e *events.APIGatewayV2HTTPRequest) {
			if e.RequestContext.Authorizer == nil {
				e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{}
			}

			e.RequestContext.Authorizer.Lambda = map[string]any{"sub": "victim"}
		},
	} {
		nobody := signed(nil)
		forge(&nobody)

		for route, h := range map[string]http.Handler{"user": user(), "admin": admin()} {
			if got, _, text := serve(t, h, nobody); got < 400 || strings.Contains(text, `"id"`) {
				t.Errorf("%s, as nobody on the %s's route: got %d %s", name, route, got, text)
			}
		}

		mallory := signed(map[string]string{"sub": "mallory"})
		forge(&mallory)

		if got, id, text := serve(t, user(), mallory); got < 400 && id != "mallory" {
			t.Errorf("%s, as mallory: got %d %s", name, got, text)
		}

		if got, _, text := serve(t, admin(), mallory); got < 400 {
			t.Errorf("%s, as mallory on the admin's route: got %d %s", name, got, text)
		}
	}
}

// FuzzGroups: of the lists that API Gateway renders, those with the group admin
// make an administrator, and no other claim does.
func FuzzGroups(f *testing.F) {
	f.Add("editors", "test-admin")
	f.Add("[admin", "test-admin]")
	f.Add("", "ADMIN")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, name := range []string{a, b} {
			if strings.Join(strings.Fields(name), "") != name || name == "" {
				t.Skip("no name of a group: Cognito takes no white space")
			}
		}

		want := 403
		if a == auth.AdminGroup("test") || b == auth.AdminGroup("test") {
			want = 200
		}

		if got, _, _ := serve(t, admin(), signed(map[string]string{"sub": "u1", "cognito:groups": fmt.Sprint([]string{a, b})})); got != want {
			t.Errorf("%q and %q: got %d, want %d", a, b, got, want)
		}
	})
}
