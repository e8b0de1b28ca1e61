// Package httpapi serves use cases over HTTP: huma on net/http behind aws-lambda-go-api-proxy.
// It decodes and validates a request by the tags of its type, calls a use case, and encodes the
// result. An error becomes a problem document (RFC 9457). The OpenAPI 3.1 description is derived
// from the same types.
//
// The order of checks: path and method, the caller, the query string, the media type and syntax
// of the body, its members, the parameters, and then the use case's own.
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 64 << 10

// statuses maps each kind of problem to its HTTP status. It is the only map of its kind.
var statuses = [...]int{
	problem.Internal:        http.StatusInternalServerError,
	problem.Invalid:         http.StatusBadRequest,
	problem.Unprocessable:   http.StatusUnprocessableEntity,
	problem.Unauthenticated: http.StatusUnauthorized,
	problem.Denied:          http.StatusForbidden,
	problem.NotFound:        http.StatusNotFound,
	problem.Conflict:        http.StatusConflict,
	problem.Limited:         http.StatusTooManyRequests,
	problem.Unavailable:     http.StatusServiceUnavailable,
	problem.Upstream:        http.StatusBadGateway,
}

// Handler serves do on the route of fn. In and Out are types of huma: fields tagged path, query
// or header, and Body.
//
// An unknown query parameter is refused, and so is one that is given twice: a misspelt filter
// would return the wrong data unnoticed. A list is one parameter, separated by commas. On a
// route with OthersCall, unknown parameters are ignored. Unknown members of a body are ignored
// if its schema has additionalProperties.
//
// GET answers have an ETag. If the client already has that version, the answer is 304. An answer
// that is not Cached has NoStore.
//
// Every refusal is a problem document. A panic of do is logged without its value, which may hold
// a token, and answered as Internal.
//
// An answer that is not JSON has a Body of []byte with the tag contentType. If Out is a Refuser,
// its pages replace problem documents.
func Handler[In, Out any](fn spec.Function, do func(context.Context, *In) (*Out, error)) http.Handler {
	return handler(fn, useCaseOf(do))
}

// useCase is a use case without its types as parameters: what has these is compiled for each
// operation anew.
type useCase struct {
	in, out  reflect.Type
	register func(huma.API, huma.Operation)
}

func useCaseOf[In, Out any](do func(context.Context, *In) (*Out, error)) useCase {
	register := func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *In) (*Out, error) {
			out, err := do(ctx, in)
			if err != nil {
				return nil, documentOf(ctx, err)
			}

			return out, nil
		})
	}

	return useCase{reflect.TypeFor[In](), reflect.TypeFor[Out](), register}
}

// refuser returns the Refuser that the answer is, nil if it is none.
func (u useCase) refuser() Refuser {
	refuser, _ := reflect.New(u.out).Interface().(Refuser)
	return refuser
}

// refusal is the answer to a request that does not reach the use case: a page if the answer is a Refuser.
func (u useCase) refusal(ctx context.Context, err error) events.APIGatewayV2HTTPResponse {
	out, refuser := refusal(ctx, err), u.refuser()
	if refuser == nil {
		return out
	}

	a := newAnswer()
	a.status = out.StatusCode

	for name, value := range out.Headers {
		a.header.Set(name, value)
	}

	a.body.WriteString(out.Body)
	a.render(refuser)

	for name, values := range a.header {
		out.Headers[name] = values[0]
	}

	out.Body = a.body.String()

	return out
}

// unidentified is the answer to a request whose caller is refused with err: a redirect if by is a Lander that has a page.
func (u useCase) unidentified(
	ctx context.Context, by Identifier, e events.APIGatewayV2HTTPRequest, err error,
) events.APIGatewayV2HTTPResponse {
	if l, ok := by.(Lander); ok {
		if to := l.Land(ctx, e, err); to != "" {
			return events.APIGatewayV2HTTPResponse{
				StatusCode: http.StatusFound, Headers: map[string]string{"Location": to, "Cache-Control": NoStore},
			}
		}
	}

	return u.refusal(ctx, err)
}

func handler(fn spec.Function, u useCase) http.Handler {
	mux := http.NewServeMux()
	register(mux, fn, u, nil)
	route := fn.On.(spec.Route)
	mux.HandleFunc(route.Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", route.Method)
		refuse(w, http.StatusMethodNotAllowed, "the method must be "+route.Method)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "nothing is here") })

	return buffered(routed(mux), fn, u.refuser())
}

// maxSegment is the longest segment of a path in bytes. It fits in a key of a table.
const maxSegment = 512

// routed answers with 404 to paths that mux would redirect, and to paths with a segment that no
// key of a table can hold.
func routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean := path.Clean(r.URL.Path)

		known := clean == r.URL.Path
		for segment := range strings.SplitSeq(r.URL.Path, "/") {
			known = known && len(segment) <= maxSegment && utf8.ValidString(segment)
		}

		if !known {
			refuse(w, http.StatusNotFound, "nothing is here")
			return
		}

		mux.ServeHTTP(w, r)
	})
}

// refuse writes a problem document.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(&huma.ErrorModel{
		Type:   problemType + codeOf(status),
		Title:  http.StatusText(status),
		Status: status,
		Detail: detail,
	})
}

// buffered sends the answer of next when it is complete. If next panics, it logs the place and
// answers 500. It adds an ETag to the answers of GET requests, and NoStore to answers that
// caches must not keep. Refusals are the pages of refuser, unless it is nil.
func buffered(next http.Handler, fn spec.Function, refuser Refuser) http.Handler {
	route := fn.On.(spec.Route)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := newAnswer()

		defer func() {
			if p := recover(); p != nil {
				kind := fmt.Sprintf("%T", p)
				if err, ok := p.(runtime.Error); ok {
					kind = err.Error()
				}

				slog.ErrorContext(r.Context(), "panic", "kind", kind, "stack", string(debug.Stack()))

				a = newAnswer()
				refuse(a, http.StatusInternalServerError, internalText)
			}

			if refuser != nil {
				a.render(refuser)
			}

			if a.header.Get("Cache-Control") == "" && (route.Auth != spec.Public || a.status < http.StatusMultipleChoices) {
				a.header.Set("Cache-Control", NoStore)
			}

			for name, value := range ending(fn.Ends) {
				a.header.Set(name, value)
			}

			a.send(w)
		}()

		next.ServeHTTP(a, r)

		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && a.status == http.StatusOK {
			a.tag(r.Header.Values("If-None-Match"))
		}
	})
}

// ending returns the headers of the answers of a route that ends, none for another: Deprecation and
// its link (RFC 9745), and Sunset (RFC 8594).
func ending(e *spec.Ending) map[string]string {
	if e == nil {
		return nil
	}

	return map[string]string{
		"Deprecation": "@" + strconv.FormatInt(e.Deprecated.Unix(), 10),
		"Sunset":      e.Sunset.UTC().Format(http.TimeFormat),
		"Link":        "<" + e.Link + `>; rel="deprecation"`,
	}
}

// internalText is what a user reads after an unexpected error.
const internalText = "something went wrong on our side"

// answerTime is the part of an invocation's time that is kept for the answer.
const answerTime = 500 * time.Millisecond

// Identifier identifies callers by their session: session.Sessions.
type Identifier interface {
	Identify(context.Context, events.APIGatewayV2HTTPRequest) (userID string, err error)
	// CheckOrigin refuses the requests of pages of other sites.
	CheckOrigin(events.APIGatewayV2HTTPRequest) error
}

// Lander is an Identifier of routes that people open in a browser. Land returns where the sender of a request goes
// whose caller Identify has refused with err, "" if the refusal is the answer.
type Lander interface {
	Land(ctx context.Context, e events.APIGatewayV2HTTPRequest, err error) (to string)
}

// Lambda is Handler for the events of an HTTP API. The context of do ends shortly before the
// invocation's timeout, so that a use case that hangs is answered as Unavailable. If fn uses
// account.CheckDeleted, writes of a deleted user are refused.
//
// by identifies the callers of a route for sessions, and do gets the caller as an auth.User. For a route
// for browsers it refuses the pages of other sites; for other routes it may be nil.
//
// If the API's stage has the variable spec.CDNKeys, a request without one of its values in
// spec.CDNHeader is refused: 403, not_through_cdn. The source address of other requests is that
// of the CDN's client.
func Lambda[In, Out any](fn spec.Function, by Identifier, do func(context.Context, *In) (*Out, error)) Route {
	return route(fn, by, useCaseOf(do))
}

// Route answers the events of an HTTP API.
type Route = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

func route(fn spec.Function, by Identifier, u useCase) Route {
	room, _, _ := strings.Cut(fn.Name, "/")
	proxy := httpadapter.NewV2(handler(fn, u))
	on := fn.On.(spec.Route)

	sessions, browsers := on.Auth == spec.Session, on.Auth == spec.Browser
	if (sessions || browsers) && by == nil {
		panic(fn.Name + " is for callers with a session or a browser, and nothing identifies them")
	}

	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if keys := e.StageVariables[spec.CDNKeys]; keys != "" && !isOneOf(keys, e.Headers[spec.CDNHeader]) {
			return u.refusal(ctx, errNotThroughCDN), nil
		} else if keys != "" {
			e.RequestContext.HTTP.SourceIP = viewer(e)
		}

		if end, limited := ctx.Deadline(); limited {
			var cancel context.CancelFunc

			ctx, cancel = context.WithDeadline(ctx, end.Add(-answerTime))
			defer cancel()
		}

		if browsers {
			if err := by.CheckOrigin(e); err != nil {
				return u.refusal(ctx, err), nil
			}
		}

		if sessions {
			userID, err := by.Identify(ctx, e)
			if err != nil {
				return u.unidentified(ctx, by, e, err), nil
			}

			e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
				JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": userID}},
			}
		}

		if jwt := e.RequestContext.Authorizer; writes(fn) && !browsers && jwt != nil && jwt.JWT != nil {
			ctx = account.Require(ctx, jwt.JWT.Claims["sub"])
		}

		e.RawPath, e.RawQueryString = routePath(room, e.RawPath), query(e.RawQueryString)
		ctx = context.WithValue(ctx, headersKey{}, e.Headers)

		return proxy.ProxyWithContext(ctx, e)
	}
}

// writes reports whether fn refuses the writes of deleted users.
func writes(fn spec.Function) bool {
	return slices.ContainsFunc(fn.Uses, func(a spec.Access) bool { return a.ID() == account.CheckDeleted.ID() })
}

// headersKey is the key of the event's headers in the context of a request.
type headersKey struct{}

// wholeHeaders is the middleware that gives header parameters the text of the event.
// aws-lambda-go-api-proxy splits a header at commas, and the parameter would be the first part
// only: two different idempotency keys could become one.
func wholeHeaders(ctx huma.Context, next func(huma.Context)) {
	given, _ := ctx.Context().Value(headersKey{}).(map[string]string)

	r, _ := humago.Unwrap(ctx)
	for _, p := range ctx.Operation().Parameters {
		if text, ok := given[strings.ToLower(p.Name)]; ok && p.In == "header" {
			r.Header.Set(p.Name, strings.Trim(text, " \t"))
		}
	}

	next(ctx)
}

// viewer returns the address of the CDN's client: the last address in X-Forwarded-For that is
// not the CDN's. The client may have written the addresses before it.
func viewer(e events.APIGatewayV2HTTPRequest) string {
	cdn := e.RequestContext.HTTP.SourceIP
	for _, address := range slices.Backward(strings.Split(e.Headers["x-forwarded-for"], ",")) {
		if address = strings.TrimSpace(address); address != cdn && address != "" {
			return address
		}
	}

	return cdn
}

// isOneOf reports whether a comma-separated list contains the key. It takes the same time for
// each key of the same length.
func isOneOf(keys, key string) bool {
	found, got := 0, sha256.Sum256([]byte(key))
	for one := range strings.SplitSeq(keys, ",") {
		want := sha256.Sum256([]byte(one))
		found |= subtle.ConstantTimeCompare(got[:], want[:])
	}

	return found == 1 && key != ""
}

var errNotThroughCDN = problem.New(problem.Denied, "not_through_cdn", "the API is not served at this address")

// refusal is the answer with the problem document of err.
func refusal(ctx context.Context, err error) events.APIGatewayV2HTTPResponse {
	doc := documentOf(ctx, err).(document)

	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // text always encodes
	}

	headers := map[string]string{"Content-Type": "application/problem+json", "Cache-Control": NoStore}
	for name, values := range doc.GetHeaders() {
		headers[name] = values[0]
	}

	return events.APIGatewayV2HTTPResponse{StatusCode: doc.Status, Headers: headers, Body: string(body)}
}

// routePath returns the escaped path of a route. An HTTP API passes the path decoded, and with
// the base path of its custom domain or its stage: the room's name.
func routePath(room, raw string) string {
	if rest, ok := strings.CutPrefix(raw, "/"+room+"/"); ok {
		raw = "/" + rest
	}

	return (&url.URL{Path: raw}).EscapedPath()
}

// query escapes the bytes of a query string that are not allowed in a URL. An HTTP API passes on
// the query string as the client sent it.
func query(raw string) string {
	var b strings.Builder

	for _, c := range []byte(raw) {
		if c <= ' ' || c == '#' || c == 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}

	return b.String()
}

// OpenAPI describes the route of fn as an OpenAPI 3.1 document of one operation.
// problems are those of its use case; others are those of its limits, of what it uses and of httpapi.
func OpenAPI[In, Out any](
	fn spec.Function, do func(context.Context, *In) (*Out, error), problems ...*problem.Error,
) ([]byte, error) {
	return describeRoute(fn, useCaseOf(do), problems)
}

func describeRoute(fn spec.Function, u useCase, problems []*problem.Error) ([]byte, error) {
	return json.Marshal(register(http.NewServeMux(), fn, u, problems).OpenAPI())
}

// A name in another case is another name, as it is when the body is decoded. A list in an answer
// is never null: see encode.
func init() { huma.ValidateStrictCasing, huma.DefaultArrayNullable = true, false }

// encode writes an answer as encoding/json does, but a nil slice as an empty list.
func encode(w io.Writer, v any) error {
	as := jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsonv2.FormatNilSliceAsNull(false))
	return jsonv2.MarshalEncode(jsontext.NewEncoder(w, as), v, as) // which ends with a line break
}

func register(mux *http.ServeMux, fn spec.Function, u useCase, problems []*problem.Error) huma.API {
	room, _, _ := strings.Cut(fn.Name, "/")
	config := huma.DefaultConfig("Matchday: "+room, "1")
	config.CreateHooks = nil // no $schema link in every answer
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Info.Description = "The operations of the room " + room +
		". Every error of an operation is a problem document (RFC 9457) whose type ends in a stable code. What API Gateway refuses before " +
		"that, such as a token that is missing or has expired, is JSON with a message: {\"message\":\"Unauthorized\"}."
	config.Tags = []*huma.Tag{{Name: room, Description: "The room " + room + "."}}
	codes := codesOf(fn, u.in, problems)
	config.OnAddOperation = []huma.AddOpFunc{complete(fn, codes),
		func(_ *huma.OpenAPI, op *huma.Operation) { describeMedia(op, u) }}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	others := fn.On.(spec.Route).OthersCall
	config.RejectUnknownQueryParameters = !others
	decode := func(body []byte, v any) error { return jsonv2.Unmarshal(body, v, strict) }
	config.Formats = map[string]huma.Format{
		jsonType: {Marshal: encode, Unmarshal: decode},
		"json":   {Marshal: huma.DefaultJSONFormat.Marshal},
	}
	config.Transformers = []huma.Transformer{sealed}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{}

	switch fn.On.(spec.Route).Auth {
	case spec.User, spec.Admin:
		config.Components.SecuritySchemes["jwt"] = &huma.SecurityScheme{
			Type:         "http",
			Scheme:       "bearer",
			BearerFormat: "JWT",
			Description:  "An access token: of the user pool of users, and of that of administrators for the operations of administrators.",
		}
	case spec.Session:
		config.Components.SecuritySchemes["session"] = &huma.SecurityScheme{
			Type:        "apiKey",
			In:          "cookie",
			Name:        session.Cookie{Name: room + "_session"}.FullName(),
			Description: "The cookie that the sign-in sets.",
		}
		config.Components.SecuritySchemes["bearer"] = &huma.SecurityScheme{
			Type:        "http",
			Scheme:      "bearer",
			Description: "The token of a native app, in place of the cookie. Then the request needs no Origin.",
		}
	}

	api := humago.New(mux, config)
	api.UseMiddleware(authorize(api, u.in), func(ctx huma.Context, next func(huma.Context)) {
		known := func(name string) bool {
			return !others || slices.ContainsFunc(ctx.Operation().Parameters,
				func(p *huma.Param) bool { return p.In == "query" && p.Name == name && p.Schema.Type != huma.TypeObject })
		}
		if errs := unclear(ctx.URL().RawQuery, others, known); errs != nil {
			huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "validation failed", errs...)
			return
		}

		next(ctx)
	}, readBodies(api, u.in), wholeHeaders, givenParameters(api), canonicalParameters(api), typed(mediaOf(u.out)))
	u.register(api, operation(fn, codes))

	return api
}

// authorize returns the middleware that refuses callers by the Resolver of a request, before any
// other part of it is read: a refused caller learns nothing about the request.
func authorize(api huma.API, in reflect.Type) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if resolver, ok := reflect.New(in).Interface().(huma.Resolver); ok {
			for _, err := range resolver.Resolve(ctx) {
				if refused, ok := errors.AsType[huma.StatusError](err); ok {
					huma.WriteErr(api, ctx, refused.GetStatus(), refused.Error())
					return
				}
			}
		}

		next(ctx)
	}
}

// unclear returns an error for each known parameter that is given more than once, or one error
// if the query string is malformed. On a route with OthersCall, a malformed query string is
// ignored.
func unclear(raw string, others bool, known func(name string) bool) (errs []error) {
	query, err := url.ParseQuery(raw)
	if err != nil && !others {
		return []error{&huma.ErrorDetail{Message: "the query string is malformed", Location: "query"}}
	}

	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 && known(name) {
			errs = append(errs, &huma.ErrorDetail{Message: "given more than once", Location: "query." + name})
		}
	}

	return errs
}

// givenParameters returns the middleware that refuses parameters of the query and headers that are
// given without a value, unless their schema allows an empty string. huma would take them for absent.
func givenParameters(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		query := r.URL.Query()

		var res huma.ValidateResult

		for _, p := range ctx.Operation().Parameters {
			values := query[p.Name]
			if p.In == "header" {
				values = r.Header.Values(p.Name)
			}

			if len(values) == 1 && values[0] == "" && p.In != "path" {
				at := huma.NewPathBuffer(nil, 0)
				at.Push(p.In)
				at.Push(p.Name)
				huma.Validate(api.OpenAPI().Components.Schemas, p.Schema, at, huma.ModeWriteToServer, "", &res)
			}
		}

		if res.Errors != nil {
			huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "validation failed", res.Errors...)
			return
		}

		next(ctx)
	}
}

// Bounds of the errors in a problem document, and of a location in bytes: the client chooses the
// names of unknown members.
const (
	maxErrors   = 10
	maxLocation = 200
)

// sealed removes refused values from a problem document, which may be tokens: documents are
// logged. It limits the list of errors, and sets a missing type.
func sealed(_ huma.Context, _ string, v any) (any, error) {
	doc, ok := v.(*huma.ErrorModel)
	if !ok { // an answer, or a document of ours
		return v, nil
	}

	slices.SortStableFunc(doc.Errors, func(a, b *huma.ErrorDetail) int { return strings.Compare(a.Location, b.Location) })

	doc.Errors = doc.Errors[:min(len(doc.Errors), maxErrors)]
	for _, e := range doc.Errors {
		e.Value = nil
		e.Location = e.Location[:min(len(e.Location), maxLocation)]
	}

	if doc.Type == "" {
		doc.Type = problemType + codeOf(doc.Status)
	}

	return v, nil
}

// codeIn returns the code of a problem of a use case.
func codeIn(p *problem.Error) string { return cmp.Or(p.Code, p.Kind.Code()) }

// codeOf returns the code of a problem that huma found, from its status.
func codeOf(status int) string {
	if kind := slices.Index(statuses[:], status); kind >= 0 {
		return problem.Kind(kind).Code()
	}

	if status == http.StatusRequestEntityTooLarge {
		return "too_large"
	}

	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
}

// documentOf returns the problem document of err, and logs its cause.
func documentOf(ctx context.Context, err error) error {
	f, ok := errors.AsType[*problem.Error](err)
	switch {
	case ok:
	case isBusy(err):
		f = &problem.Error{Kind: problem.Unavailable, Text: "this takes too long at the moment: try again"}
	default:
		f = &problem.Error{Text: internalText}
	}

	status := statuses[f.Kind]

	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
	}

	slog.Log(ctx, level, "refused", "status", status, "err", err)

	doc := document{
		ErrorModel: &huma.ErrorModel{
			Status: status,
			Type:   problemType + codeIn(f),
			Title:  http.StatusText(status),
			Detail: f.Text,
		},
		extensions: f.Extensions, retryAfter: f.RetryAfter, limit: f.Limit, challenge: challengeOf(f),
	}
	if f.Field != "" {
		doc.Errors = []*huma.ErrorDetail{{Message: f.Text, Location: f.Field}}
	}

	return doc
}

// problemType and the code of a problem are the type of a problem document.
const problemType = "urn:problem-type:matchday:"

// document is a problem document with members of its own (RFC 9457, 3.2).
type document struct {
	*huma.ErrorModel
	extensions map[string]any
	retryAfter time.Duration
	limit      spec.Limit // the rate that the request exceeds, if any
	challenge  string     // WWW-Authenticate, "" for none
}

// challengeOf returns the challenge of a refusal of package session (RFC 6750, 3), "" of any other: a request
// without credentials gets no error.
func challengeOf(f *problem.Error) string {
	switch {
	case errors.Is(f, session.ErrToken):
		return `Bearer error="invalid_token"`
	case errors.Is(f, session.ErrBoth):
		return `Bearer error="invalid_request"`
	case errors.Is(f, session.ErrMissing), errors.Is(f, session.ErrInvalid):
		return "Bearer"
	}

	return ""
}

// GetHeaders returns Retry-After in seconds, rounded up (RFC 9110, 10.2.3), for a rate
// RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11), and the challenge. huma sends them.
func (d document) GetHeaders() http.Header {
	h := http.Header{}
	if d.challenge != "" {
		h.Set("WWW-Authenticate", d.challenge)
	}

	left := strconv.FormatInt(int64((d.retryAfter+time.Second-1)/time.Second), 10)
	if d.retryAfter > 0 {
		h.Set("Retry-After", left)
	}

	if d.limit.Per > 0 {
		name := strconv.Quote(d.limit.Code)
		h.Set("RateLimit-Policy", fmt.Sprintf("%s;q=%d;w=%d", name, d.limit.Max, int64(d.limit.Per/time.Second)))
		h.Set("RateLimit", fmt.Sprintf("%s;r=0;t=%s", name, left))
	}

	return h
}

func (d document) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(d.ErrorModel)
	if err != nil || len(d.extensions) == 0 {
		return text, err
	}

	more, err := json.Marshal(d.extensions)
	if err != nil {
		return nil, err
	}

	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}

// isBusy reports whether a dependency did not answer in time, or throttled us.
func isBusy(err error) bool {
	throttled := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err)
	return errors.Is(err, context.DeadlineExceeded) || throttled == aws.TrueTernary
}

// matches reports whether the values of If-None-Match include the tag, by weak
// comparison (RFC 9110, 13.1.2). aws-lambda-go-api-proxy splits a list into values.
func matches(values []string, tag string) bool {
	if len(values) == 1 && strings.TrimSpace(values[0]) == "*" {
		return true
	}

	for candidate := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if strings.TrimPrefix(strings.TrimSpace(candidate), "W/") == tag {
			return true
		}
	}

	return false
}

// answer is a response that is not yet sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: http.StatusOK} }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// tag adds a strong ETag, a hash of the body, to an answer that states none. If the client
// has that version, the answer becomes 304 without a body.
func (a *answer) tag(ifNoneMatch []string) {
	tag := a.header.Get("ETag")
	if tag == "" {
		sum := sha256.Sum256(a.body.Bytes())
		tag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		a.header.Set("ETag", tag)
	}

	if matches(ifNoneMatch, tag) {
		a.header.Del("Content-Type")
		a.status = http.StatusNotModified
		a.body.Reset()
	}
}

// send writes the response to w.
func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)

	if a.body.Len() > 0 { // otherwise w would guess a type
		w.Write(a.body.Bytes())
	}
}
