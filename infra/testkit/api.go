package testkit

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// Route calls the handler of a function.
type Route func(events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse

// ServeRoutes returns the routes of the room, by the names of their functions.
func (w *World) ServeRoutes() map[string]Route {
	all := map[string]Route{}

	for _, fn := range w.room.Functions {
		if _, ok := fn.On.(spec.Route); ok {
			all[fn.Name] = Serve(w, fn)
		}
	}

	return all
}

// Serve returns the Route of fn. The service opens at the first call: most tests call few of a
// room's routes.
func Serve(w *World, fn app.Function) Route {
	open := sync.OnceValue(func() Route { return ServeWith(w, fn, w.Env(fn)) })
	return func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse { return open()(e) }
}

// ServeWith opens the service of fn in an environment of Env or CrashingEnv, and returns its
// Route. It panics if that fails: property tests call routes with a T of their own.
func ServeWith(w *World, fn app.Function, env app.Env) Route {
	answers := fn.On.(spec.Route).Answers
	if answers == nil {
		answers = []int{http.StatusOK, http.StatusNoContent}
	}

	call, err := fn.Open(w.T.Context(), env)
	if err != nil {
		panic(err)
	}

	route, documented := call.(app.Route), problemsOf(fn)

	return func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
		out, err := route(w.NewContext(), admit(fn, e))
		if err != nil {
			panic(err)
		}

		if out.StatusCode < 300 && !slices.Contains(answers, out.StatusCode) {
			w.T.Errorf("%s answers with %d, and its spec lists %v", fn.Name, out.StatusCode, answers)
		}

		refused := out.StatusCode >= 400 && out.StatusCode != http.StatusMethodNotAllowed // the answer to another method
		if refused && out.Headers["Content-Type"] == "application/problem+json" {
			var p struct{ Type string }
			Must(w.T, json.Unmarshal([]byte(out.Body), &p))

			if !slices.Contains(documented()[strconv.Itoa(out.StatusCode)], p.Type) {
				w.T.Errorf("%s answers %d with %s, which it does not document: its app.API lacks the problem", fn.Name, out.StatusCode, p.Type)
			}
		}

		return out
	}
}

// problemsOf returns the types of the problems that the document of fn lists, by status.
func problemsOf(fn app.Function) func() map[string][]string {
	return sync.OnceValue(func() map[string][]string {
		text, err := fn.OpenAPI()
		if err != nil {
			panic(err)
		}

		var d struct {
			Paths map[string]map[string]struct {
				Responses map[string]struct {
					Content map[string]struct {
						Schema struct {
							Properties struct {
								Type struct {
									Values []string `json:"x-extensible-enum"`
								}
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			panic(err)
		}

		on := fn.On.(spec.Route)
		types := map[string][]string{}

		for status, r := range d.Paths[on.Path][strings.ToLower(on.Method)].Responses {
			types[status] = r.Content["application/problem+json"].Schema.Properties.Type.Values
		}

		return types
	})
}

// Administrator is the only user in the groups of administrators.
const Administrator = "root"

// Request returns the event of a request. user is "" for a request without a token. A Route
// adds the group of its room to the Administrator's token.
func Request(method, target, user, body string) events.APIGatewayV2HTTPRequest {
	var claims map[string]string
	if user != "" {
		claims = map[string]string{"sub": user}
	}

	return apigateway.Event(method, target, body, claims)
}

// admit returns a request for a function. The Administrator is in the group of its room.
func admit(fn app.Function, e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPRequest {
	by := e.RequestContext.Authorizer
	if by == nil || by.JWT == nil || by.JWT.Claims["sub"] != Administrator {
		return e
	}

	room, _, _ := strings.Cut(fn.Name, "/")
	token, claims := *by.JWT, maps.Clone(by.JWT.Claims)
	claims["cognito:groups"] = "[editor " + auth.AdminGroup(room) + "]"
	token.Claims = claims
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{JWT: &token}

	return e
}

// Call calls the route of a function as user. If user is "", the request has no token.
func Call(routes map[string]Route, fn app.Function, target, user, body string) events.APIGatewayV2HTTPResponse {
	return routes[fn.Name](Request(fn.On.(spec.Route).Method, target, user, body))
}

// Header returns the headers of a response.
func Header(out events.APIGatewayV2HTTPResponse) http.Header {
	h := http.Header{}
	for k, v := range out.Headers {
		h.Set(k, v)
	}

	for k, v := range out.MultiValueHeaders {
		h[http.CanonicalHeaderKey(k)] = v
	}

	return h
}

// Decode decodes the body of a response. It fails the test if the status is 300 or
// more.
func Decode[T any](w *World, out events.APIGatewayV2HTTPResponse) (v T) {
	w.T.Helper()

	if out.StatusCode >= 300 {
		w.T.Fatalf("got status %d: %s, want a status below 300", out.StatusCode, out.Body)
	}

	Must(w.T, json.Unmarshal([]byte(out.Body), &v))

	return v
}

// Problem is a problem document.
type Problem struct {
	Type, Detail string
	Status       int
	Errors       []struct{ Message, Location string }
}

// Failed returns the answer as an error if its status is 500 or more, and nil otherwise.
func Failed(out events.APIGatewayV2HTTPResponse) error {
	if out.StatusCode < 500 {
		return nil
	}

	return fmt.Errorf("%d %s", out.StatusCode, out.Body)
}

// CheckProblemField returns an error unless the response is a problem document with
// this status and a validation error for field. If field is "", the document must have
// no validation errors.
func CheckProblemField(out events.APIGatewayV2HTTPResponse, status int, field string) error {
	var p Problem
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil {
		return fmt.Errorf("%d %s", out.StatusCode, out.Body)
	}

	var fields []string

	for _, e := range p.Errors {
		if e.Location != "" {
			fields = append(fields, e.Location)
		}
	}

	if out.StatusCode != status || p.Status != status || field != "" && !slices.Contains(fields, field) || field == "" && fields != nil {
		return fmt.Errorf("got status %d with errors for %q, want status %d with errors for %q: %s", out.StatusCode,
			fields, status, field, out.Body)
	}

	return nil
}

// CheckProblemCode returns an error unless the response is a problem document with this
// status and code.
func CheckProblemCode(out events.APIGatewayV2HTTPResponse, status int, code string) error {
	var p Problem
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil || out.StatusCode != status || p.Status != status ||
		!strings.HasSuffix(p.Type, ":"+code) {
		return fmt.Errorf("got %d %s, want %d %s", out.StatusCode, out.Body, status, code)
	}

	return nil
}
