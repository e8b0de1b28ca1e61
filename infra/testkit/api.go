package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// Route calls the handler of a function.
type Route func(events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse

// Serve opens the service of fn and returns a Route to its use case.
func Serve[S, In, Out any](w *World, fn spec.Function, opener app.Opener[S], do func(S, context.Context, *In) (*Out, error)) Route {
	w.T.Helper()
	return ServeWith(w, fn, Open(w, fn, opener), do)
}

// ServeWith returns a Route to a use case of an open service.
func ServeWith[S, In, Out any](w *World, fn spec.Function, s S, do func(S, context.Context, *In) (*Out, error)) Route {
	handle := httpapi.Lambda(fn, func(ctx context.Context, in *In) (*Out, error) { return do(s, ctx, in) })
	return func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
		out, err := handle(w.Ctx(), e)
		if err != nil {
			panic(err) // rapid tests call it, too
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
			claims["cognito:groups"] = "[editor admin]"
		}
	}
	return apigateway.Event(method, target, body, claims)
}

// Ask calls the route of a function as user; "" means without a token.
func Ask(routes map[string]Route, fn spec.Function, target, user, body string) events.APIGatewayV2HTTPResponse {
	return routes[fn.Name](Request(fn.On.(spec.Route).Method, target, user, body))
}

// Header returns the headers of an answer.
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

// Decode decodes the body of an answer. It fails the test if the status is 300 or more.
func Decode[T any](w *World, out events.APIGatewayV2HTTPResponse) (v T) {
	w.T.Helper()
	if out.StatusCode >= 300 {
		w.T.Fatalf("the answer is %d %s", out.StatusCode, out.Body)
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

// Blames returns an error unless an answer is a problem document with a status and a
// validation error for a field; "" means without validation errors.
func Blames(out events.APIGatewayV2HTTPResponse, status int, field string) error {
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

// Refuses returns an error unless an answer is a problem document with a status and a
// code.
func Refuses(out events.APIGatewayV2HTTPResponse, status int, code string) error {
	var p Problem
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil || out.StatusCode != status || p.Status != status || !strings.HasSuffix(p.Type, ":"+code) {
		return fmt.Errorf("got %d %s, want %d %s", out.StatusCode, out.Body, status, code)
	}
	return nil
}
