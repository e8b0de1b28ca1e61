package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// Route calls the handler of a function.
type Route func(events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse

// Serve opens the service of fn and returns the Route of its use case.
func Serve[S, In, Out any](w *World, fn spec.Function, opener app.Opener[S], do func(S, context.Context, *In) (*Out, error)) Route {
	w.T.Helper()
	return ServeWith(w, fn, Open(w, fn, opener), do)
}

// ServeWith returns the Route of a use case of a service that is already open. The handler is
// made at the first call: most tests call few of a room's routes.
func ServeWith[S, In, Out any](w *World, fn spec.Function, s S, do func(S, context.Context, *In) (*Out, error)) Route {
	w.decoders = append(w.decoders, func() *decoder { return newDecoder[In](w.T, fn) })
	answers := fn.On.(spec.Route).Answers
	if answers == nil {
		answers = []int{http.StatusOK, http.StatusNoContent}
	}
	by, _ := any(s).(httpapi.Identifier)
	handler := sync.OnceValue(func() func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return httpapi.Lambda(fn, by, func(ctx context.Context, in *In) (*Out, error) { return do(s, ctx, in) })
	})
	return func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
		out, err := handler()(w.NewContext(), e)
		if err != nil {
			panic(err) // not Fatal: property tests call it with a T of their own
		}
		if out.StatusCode < 300 && !slices.Contains(answers, out.StatusCode) {
			w.T.Errorf("%s answers with %d, and its spec lists %v", fn.Name, out.StatusCode, answers)
		}
		return out
	}
}

// Administrator is the only user in the group of administrators.
const Administrator = "root"

// Request returns the event of a request. user is "" for a request without a token.
func Request(method, target, user, body string) events.APIGatewayV2HTTPRequest {
	var claims map[string]string
	if user != "" {
		claims = map[string]string{"sub": user}
		if user == Administrator {
			claims["cognito:groups"] = "[editor accounts-admin commitcollect-admin cricket-admin pickem-admin threefc-admin bestshot-admin]"
		}
	}
	return apigateway.Event(method, target, body, claims)
}

// Call calls the route of a function as user. If user is "", the request has no token.
func Call(routes map[string]Route, fn spec.Function, target, user, body string) events.APIGatewayV2HTTPResponse {
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
		return fmt.Errorf("got status %d with errors for %q, want status %d with errors for %q: %s", out.StatusCode, fields, status, field, out.Body)
	}
	return nil
}

// CheckProblemCode returns an error unless the response is a problem document with this
// status and code.
func CheckProblemCode(out events.APIGatewayV2HTTPResponse, status int, code string) error {
	var p Problem
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil || out.StatusCode != status || p.Status != status || !strings.HasSuffix(p.Type, ":"+code) {
		return fmt.Errorf("got %d %s, want %d %s", out.StatusCode, out.Body, status, code)
	}
	return nil
}
