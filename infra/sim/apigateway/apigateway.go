// Package apigateway simulates an HTTP API of API Gateway. It routes requests to
// functions in payload format 2.0, verifies JSON Web Tokens, and returns the answers
// and errors of AWS:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
//
// One difference is intended: functions get paths without the base path. AWS keeps
// the base path of a custom domain's mapping.
package apigateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"matchday/infra/sim/clock"
)

// Auth is the authorization of a route.
type Auth int

// User and Admin routes require a valid token; the function itself checks the group
// of administrators. A Public route requires none.
const (
	User Auth = iota
	Admin
	Public
)

// Route sends requests to a function. A segment of the path may be a parameter
// {name}. The last may be {name+}, which matches the rest of the path. The path
// "$default" matches the requests that no other route matches. The method may be
// "ANY".
type Route struct {
	Method, Path string
	Function     string // the argument of Config.Invoke
	Auth         Auth
}

// CORS is the CORS configuration of an API. The zero value does nothing.
type CORS struct {
	AllowOrigins     []string // "https://app.example.com", or "*"
	AllowMethods     []string
	AllowHeaders     []string
	ExposeHeaders    []string
	AllowCredentials bool
	MaxAge           time.Duration
}

// Config configures a Gateway. CORS, Timeout, Verify and VerifyAdmin are optional.
// Without Verify or VerifyAdmin no token is valid on their routes.
type Config struct {
	Clock  *clock.Clock
	Base   string // "/cricket", or "" for the root
	Routes []Route
	// Invoke runs a function, as lambda.Runtime.Invoke does. An error may have the
	// method ErrorType() string: TooManyRequestsException becomes status 429,
	// RequestTooLargeException 413. Every other error becomes status 500.
	Invoke func(ctx context.Context, function string, payload []byte) ([]byte, error)
	// Verify returns the claims of a valid token. Numbers must be json.Number, so
	// that functions get their original text.
	Verify func(token string) (map[string]any, error)
	// VerifyAdmin is Verify on Admin routes.
	VerifyAdmin func(token string) (map[string]any, error)
	// Scope is one that a token must have in its claim scope; "" for none.
	Scope   string
	CORS    CORS
	Timeout time.Duration // real time until a request gets status 503; 0 is 29 s
}

// maxBody is the limit of a Lambda invocation's payload, in bytes.
const maxBody = 6 << 20

// Gateway serves an API. Create it with New.
type Gateway struct {
	cfg    Config
	routes []route // the most specific first
}

// New returns a Gateway. It fails if a route is invalid or if two routes match the
// same requests. The order of routes does not matter.
func New(cfg Config) (*Gateway, error) {
	routes, err := parseRoutes(cfg.Routes)
	if err != nil {
		return nil, err
	}

	cfg.Base = strings.TrimSuffix(cfg.Base, "/")
	if cfg.Base != "" && !strings.HasPrefix(cfg.Base, "/") {
		return nil, fmt.Errorf("base path %q must start with a slash", cfg.Base)
	}

	if cfg.Timeout == 0 {
		cfg.Timeout = 29 * time.Second
	}

	return &Gateway{cfg, routes}, nil
}

// ServeHTTP answers a request. It holds clock work until the function has returned.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	done := g.cfg.Clock.Work()
	id := requestID()
	w.Header().Set("Apigw-Requestid", id)
	w.Header().Set("Date", g.cfg.Clock.Now().UTC().Format(http.TimeFormat)) // by which browsers know the time of the fleet
	g.cfg.CORS.mark(w.Header(), req)

	path, ok := strings.CutPrefix(req.URL.Path, g.cfg.Base)
	if path == "" {
		path = "/"
	}

	switch {
	case !ok || path[0] != '/':
		done()
		refuse(w, http.StatusNotFound, "Not Found")

		return
	case g.cfg.CORS.preflight(w, req):
		done()
		return
	}

	call, status, message := g.call(w, req, path, id)
	if status != 0 {
		done()
		refuse(w, status, message)

		return
	}

	type result struct {
		out []byte
		err error
	}

	results := make(chan result, 1)
	ctx := context.WithoutCancel(req.Context()) // a function outlives its caller

	go func() {
		defer done()

		out, err := g.cfg.Invoke(ctx, call.function, call.payload)
		results <- result{out, err}
	}()

	limit := time.NewTimer(g.cfg.Timeout)
	defer limit.Stop()

	select {
	case <-limit.C:
		refuse(w, http.StatusServiceUnavailable, "Service Unavailable")
	case r := <-results:
		if r.err != nil {
			status, message := failure(r.err)
			refuse(w, status, message)

			return
		}

		res, err := parseResponse(r.out)
		if err != nil {
			refuse(w, http.StatusInternalServerError, "Internal Server Error")
			return
		}

		res.write(w, len(g.cfg.CORS.AllowOrigins) > 0)
	}
}

// failure returns the status and the message for an error of Config.Invoke.
func failure(err error) (status int, message string) {
	typed, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err)
	switch {
	case ok && typed.ErrorType() == "TooManyRequestsException":
		return http.StatusTooManyRequests, "Too Many Requests"
	case ok && typed.ErrorType() == "RequestTooLargeException":
		return http.StatusRequestEntityTooLarge, "Request Entity Too Large"
	}

	return http.StatusInternalServerError, "Internal Server Error"
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q}`, message)
}

type call struct {
	function string
	payload  []byte
}

// call turns a request into the event of a function. If the request is refused, it
// returns the status and the message of the answer.
func (g *Gateway) call(w http.ResponseWriter, req *http.Request, path, id string) (_ call, status int, message string) {
	rt, params := find(g.routes, req.Method, path)
	if rt == nil {
		return call{}, http.StatusNotFound, "Not Found"
	}

	var auth *authorizer

	if rt.Auth != Public {
		claims, challenge := g.claims(req, rt.Auth)
		if claims == nil {
			w.Header().Set("WWW-Authenticate", challenge)
			return call{}, http.StatusUnauthorized, "Unauthorized"
		}

		auth = &authorizer{JWT: jwtClaims{Claims: claims}}
		if g.cfg.Scope != "" {
			if !slices.Contains(strings.Fields(claims["scope"]), g.cfg.Scope) {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(
					`Bearer scope=%q error="insufficient_scope" error_description="the token does not have the scope"`, g.cfg.Scope))
				return call{}, http.StatusForbidden, "Forbidden"
			}

			auth.JWT.Scopes = []string{g.cfg.Scope}
		}
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return call{}, http.StatusRequestEntityTooLarge, "Request Entity Too Large"
	}

	if err != nil {
		return call{}, http.StatusBadRequest, "Bad Request"
	}

	payload, err := json.Marshal(g.event(req, rt.key, path, id, params, auth, body))
	if err != nil {
		return call{}, http.StatusInternalServerError, "Internal Server Error"
	}

	if len(payload) > maxBody {
		return call{}, http.StatusRequestEntityTooLarge, "Request Entity Too Large"
	}

	return call{rt.Function, payload}, 0, ""
}

// claims returns the claims of a request's token as functions get them: every value
// is text, and a list is "[a b]". Without a valid token it returns the value of the
// WWW-Authenticate header.
func (g *Gateway) claims(req *http.Request, auth Auth) (claims map[string]string, challenge string) {
	token := req.Header.Get("Authorization")
	if scheme, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}

	if token == "" {
		return nil, "Bearer"
	}

	verify := g.cfg.Verify
	if auth == Admin {
		verify = g.cfg.VerifyAdmin
	}

	if verify != nil {
		if all, err := verify(token); err == nil {
			claims = make(map[string]string, len(all))
			for name, v := range all {
				claims[name] = fmt.Sprint(v)
			}

			return claims, ""
		}
	}

	return nil, `Bearer scope="" error="invalid_token" error_description="the token is not valid"`
}

// event is the request in payload format 2.0.
type event struct {
	Version         string            `json:"version"`
	RouteKey        string            `json:"routeKey"`
	RawPath         string            `json:"rawPath"`
	RawQueryString  string            `json:"rawQueryString"`
	Cookies         []string          `json:"cookies,omitempty"`
	Headers         map[string]string `json:"headers"`
	Query           map[string]string `json:"queryStringParameters,omitempty"`
	PathParameters  map[string]string `json:"pathParameters,omitempty"`
	RequestContext  requestContext    `json:"requestContext"`
	Body            string            `json:"body,omitempty"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	Authorizer   *authorizer `json:"authorizer,omitempty"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpContext `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"` // milliseconds
}

type authorizer struct {
	JWT jwtClaims `json:"jwt"`
}

type jwtClaims struct {
	Claims map[string]string `json:"claims"`
	Scopes []string          `json:"scopes"` // the required scopes that the token has, null without any
}

type httpContext struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

func (g *Gateway) event(req *http.Request, key, path, id string, params map[string]string, auth *authorizer, body []byte) event {
	now := g.cfg.Clock.Now()

	domain, port := req.Host, "80"
	if _, p, err := net.SplitHostPort(req.Host); err == nil {
		domain, port = strings.TrimSuffix(req.Host, ":"+p), p // an IPv6 address keeps its brackets
	}

	prefix, _, _ := strings.Cut(domain, ".")

	source, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		source = req.RemoteAddr
	}

	e := event{
		Version:        "2.0",
		RouteKey:       key,
		RawPath:        path,
		RawQueryString: req.URL.RawQuery,
		Headers:        map[string]string{},
		PathParameters: params,
		RequestContext: requestContext{
			AccountID:    "000000000000",
			APIID:        cmp.Or(strings.Trim(g.cfg.Base, "/"), "local"),
			Authorizer:   auth,
			DomainName:   domain,
			DomainPrefix: prefix,
			HTTP:         httpContext{req.Method, path, req.Proto, source, req.UserAgent()},
			RequestID:    id,
			RouteKey:     key,
			Stage:        "$default",
			Time:         now.Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch:    now.UnixMilli(),
		},
	}
	for name, values := range req.Header {
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}

	delete(e.Headers, "cookie")

	for _, line := range req.Header["Cookie"] {
		for c := range strings.SplitSeq(line, ";") {
			if c = strings.TrimSpace(c); c != "" {
				e.Cookies = append(e.Cookies, c)
			}
		}
	}

	var trace [12]byte
	rand.Read(trace[:])

	e.Headers["host"] = req.Host
	e.Headers["content-length"] = strconv.Itoa(len(body))
	e.Headers["x-amzn-trace-id"] = fmt.Sprintf("Root=1-%08x-%x", now.Unix(), trace)
	e.Headers["x-forwarded-for"] = strings.TrimPrefix(e.Headers["x-forwarded-for"]+", "+source, ", ")
	e.Headers["x-forwarded-port"] = port

	e.Headers["x-forwarded-proto"] = "http"
	if query := req.URL.Query(); len(query) > 0 {
		e.Query = make(map[string]string, len(query))
		for name, values := range query {
			e.Query[name] = strings.Join(values, ",")
		}
	}

	if e.IsBase64Encoded = len(body) > 0 && !text(req.Header, body); e.IsBase64Encoded {
		e.Body = base64.StdEncoding.EncodeToString(body)
	} else {
		e.Body = string(body)
	}

	return e
}

// text reports whether the event holds a body as text; otherwise it holds base64.
// The content types were measured on AWS; forms and bodies without a type are not
// among them: https://github.com/ministackorg/ministack/pull/766
func text(h http.Header, body []byte) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || h.Get("Content-Encoding") != "" || !utf8.Valid(body) {
		return false
	}

	return strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" || kind == "application/javascript"
}

// response is a function's answer.
type response struct {
	StatusCode        int                 `json:"statusCode"`
	Headers           map[string]scalar   `json:"headers"`
	MultiValueHeaders map[string][]scalar `json:"multiValueHeaders"`
	Cookies           []string            `json:"cookies"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`

	body []byte // decoded
}

// scalar is the value of a header. Functions may return a number or a boolean.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(s))
	case '{', '[', 'n':
		return errors.New("a header's value must be a string, a number or a boolean")
	}

	*s = scalar(b)

	return nil
}

// parseResponse decodes a function's answer. JSON without a statusCode is the body of
// an answer with status 200.
func parseResponse(out []byte) (*response, error) {
	var shape any
	if err := json.Unmarshal(out, &shape); err != nil {
		return nil, errors.New("the answer is not JSON")
	}

	fields, _ := shape.(map[string]any)
	if fields["statusCode"] == nil {
		res := &response{StatusCode: http.StatusOK, Headers: map[string]scalar{"Content-Type": "application/json"}, body: out}
		if s, ok := shape.(string); ok {
			res.body = []byte(s)
		}

		return res, nil
	}

	var res response
	if err := json.Unmarshal(out, &res); err != nil {
		return nil, fmt.Errorf("the answer is not a response: %w", err)
	}

	if res.StatusCode < 200 || res.StatusCode > 599 {
		return nil, fmt.Errorf("%d is not the status of a response", res.StatusCode)
	}

	res.body = []byte(res.Body)
	if res.IsBase64Encoded {
		var err error
		if res.body, err = base64.StdEncoding.DecodeString(res.Body); err != nil {
			return nil, errors.New("the body is not base64")
		}
	}

	return &res, nil
}

// write sends the response. It omits the headers that only the gateway sets, and with
// cors also the function's CORS headers.
func (r *response) write(w http.ResponseWriter, cors bool) {
	h := w.Header()

	set := func(name string, values ...scalar) {
		name = http.CanonicalHeaderKey(name)
		switch name {
		case "Connection", "Content-Length", "Transfer-Encoding", "Apigw-Requestid":
			return
		}

		if cors && strings.HasPrefix(name, "Access-Control-") {
			return
		}

		h.Del(name)

		for _, v := range values {
			h.Add(name, string(v))
		}
	}
	for name, v := range r.Headers {
		set(name, v)
	}

	for name, values := range r.MultiValueHeaders {
		set(name, values...)
	}

	for _, c := range r.Cookies {
		h.Add("Set-Cookie", c)
	}

	if len(r.body) > 0 && h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}

	w.WriteHeader(r.StatusCode)
	w.Write(r.body)
}

// mark adds the CORS headers of a response.
func (c CORS) mark(h http.Header, req *http.Request) {
	origin := req.Header.Get("Origin")
	switch {
	case origin == "":
		return
	case slices.Contains(c.AllowOrigins, "*"):
		origin = "*"
	case !slices.Contains(c.AllowOrigins, origin):
		return
	default:
		h.Add("Vary", "Origin")
	}

	h.Set("Access-Control-Allow-Origin", origin)

	if c.AllowCredentials {
		h.Set("Access-Control-Allow-Credentials", "true")
	}

	if len(c.ExposeHeaders) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(c.ExposeHeaders, ","))
	}
}

// preflight answers a browser's question before the request proper. No function
// sees it.
func (c CORS) preflight(w http.ResponseWriter, req *http.Request) bool {
	if len(c.AllowOrigins) == 0 || req.Method != http.MethodOptions ||
		req.Header.Get("Origin") == "" || req.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}

	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "" {
		if len(c.AllowMethods) > 0 {
			h.Set("Access-Control-Allow-Methods", strings.Join(c.AllowMethods, ","))
		}

		if len(c.AllowHeaders) > 0 {
			h.Set("Access-Control-Allow-Headers", strings.Join(c.AllowHeaders, ","))
		}

		if c.MaxAge > 0 {
			h.Set("Access-Control-Max-Age", strconv.Itoa(int(c.MaxAge.Seconds())))
		}
	}

	w.WriteHeader(http.StatusNoContent)

	return true
}

// requestID looks like the service's: 15 characters of base64 and a "=".
func requestID() string {
	var b [11]byte
	rand.Read(b[:])

	return base64.StdEncoding.EncodeToString(b[:])
}
