package apigateway

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// Event returns the event that a function receives for a request, for callers
// that run a handler without a Gateway. The target is a path with an optional
// query. The claims are those of the caller's token; nil for a caller without
// one. The event has the fields that depend on the arguments, and no others.
func Event(method, target, body string, claims map[string]string) events.APIGatewayV2HTTPRequest {
	path, query, _ := strings.Cut(target, "?")

	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: path, RawQueryString: query, Body: body, Headers: map[string]string{"content-type": "application/json"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			DomainName: "api.test", HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: method, Path: path},
		},
	}
	if claims != nil {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims},
		}
	}

	return e
}
