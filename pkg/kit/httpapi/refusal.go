package httpapi

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// codesOf returns the codes of the problems that a route may answer with, by status and sorted: its
// own, those of its limits and of what it uses, and those of this package.
func codesOf(fn spec.Function, in reflect.Type, own []*problem.Error) map[int][]string {
	all := slices.Clone(own)
	for _, kind := range []problem.Kind{problem.Internal, problem.Invalid, problem.Unprocessable, problem.NotFound, problem.Unavailable} {
		all = append(all, &problem.Error{Kind: kind})
	}

	all = append(all, errNotThroughCDN)
	route := fn.On.(spec.Route)

	switch route.Auth {
	case spec.User:
		all = append(all, &problem.Error{Kind: problem.Unauthenticated})
	case spec.Admin:
		all = append(all, &problem.Error{Kind: problem.Unauthenticated}, &problem.Error{Kind: problem.Denied})
	case spec.Session:
		all = append(all, session.ErrMissing, session.ErrInvalid, session.ErrToken, session.ErrBoth)
	}

	if route.Auth == spec.Session || route.Auth == spec.Browser {
		all = append(all, session.ErrOrigin)
	}

	if _, ok := in.FieldByName("IfMatch"); ok {
		all = append(all, ErrStale)
	}

	if writes(fn) {
		all = append(all, account.ErrDeleted)
	}

	if len(fn.Uses) > 0 {
		all = append(all, dynamo.ErrBusy)
	}

	if len(fn.SQL) > 0 {
		all = append(all, problem.ErrDatabase)
	}

	for _, l := range fn.Limits {
		all = append(all, problem.Beyond(l))
	}

	codes := map[int][]string{}
	for _, p := range all {
		codes[statuses[p.Kind]] = append(codes[statuses[p.Kind]], codeIn(p))
	}

	if _, ok := in.FieldByName("Body"); ok {
		for _, status := range []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType} {
			codes[status] = []string{codeOf(status)}
		}
	}

	for status := range codes {
		slices.Sort(codes[status])
		codes[status] = slices.Compact(codes[status])
	}

	return codes
}

// gatewayRefusal is the answer of API Gateway to a request that no function gets.
type gatewayRefusal struct {
	_ struct{} `schema:"GatewayRefusal"`

	Message string `json:"message" example:"Unauthorized" doc:"Why API Gateway refuses the request, in its own words."`
}

// describeRefusals lists the codes of an operation's problems as values of type to which others may
// be added, and describes the answers of API Gateway.
func describeRefusals(doc *huma.OpenAPI, op *huma.Operation, route spec.Route, codes map[int][]string) {
	for status, names := range codes {
		types := make([]string, len(names))
		for i, name := range names {
			types[i] = problemType + name
		}

		media := op.Responses[strconv.Itoa(status)].Content["application/problem+json"]
		media.Schema = &huma.Schema{
			Ref: media.Schema.Ref,
			Properties: map[string]*huma.Schema{
				"type": {Type: huma.TypeString, Extensions: map[string]any{"x-extensible-enum": types}},
			},
		}
	}

	byGateway := []int{http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if route.Auth == spec.User || route.Auth == spec.Admin {
		byGateway = append(byGateway, http.StatusUnauthorized, http.StatusForbidden)
	}

	schema := doc.Components.Schemas.Schema(reflect.TypeFor[gatewayRefusal](), true, "")

	for _, status := range byGateway {
		answer := op.Responses[strconv.Itoa(status)]
		if answer == nil {
			answer = &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{}}
			op.Responses[strconv.Itoa(status)] = answer
		}

		answer.Content[jsonType] = &huma.MediaType{Schema: schema}
	}
}
