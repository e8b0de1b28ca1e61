// Package strava is a client of Strava's API v3: authorization, activities, and the
// subscription to webhooks. Its sources are developers.strava.com/docs and the API's
// swagger file.
package strava

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// BaseURL is the production service: consent and tokens under /oauth, and the API under /api/v3. From
// 1 June 2027 the API is elsewhere: https://www.api-v3.strava.com, without a path. See WithAPI.
const BaseURL = "https://www.strava.com"

// Scopes are what a user is asked for. Activities are read without activity:read_all too,
// but then those that only the user can see look as if they did not exist; and without
// activity:read no webhooks come:
// https://developers.strava.com/docs/authentication/#detailsaboutrequestingaccess
var Scopes = []string{"read", "activity:read", "activity:read_all"}

// CanRead reports whether the scopes that a user has accepted, as text with commas, are
// enough.
func CanRead(scope string) bool {
	for s := range strings.SplitSeq(scope, ",") {
		if s == "activity:read" || s == "activity:read_all" {
			return true
		}
	}

	return false
}

// Kind is the kind of an Error, by what a caller can do about it.
type Kind uint8

// The kinds.
const (
	Unavailable  Kind = iota // 5xx, timeout, broken connection, a body that is no JSON: try again
	Limited                  // 429: wait for RetryAfter
	Unauthorized             // 401: the token is expired or revoked
	NotFound                 // 404 of what the path names: deleted, hidden, or not there yet
	Invalid                  // any other 4xx: the request is wrong, or refused
	Full                     // 403 to Exchange: the application has as many athletes as Strava lets it have
	Inactive                 // 403 to every call, because the application's owner has no subscription: no user is concerned
)

// Error is a failed call. It never contains a token or a secret.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status; 0 if there was no answer
	RetryAfter time.Duration // with Limited: until the limit's window ends
	Resource   string        // the part of the request that Strava refused: "Application", "RefreshToken"; "" if unknown
	Msg        string
	Err        error
}

func (e *Error) Error() string {
	msg := "strava: " + e.Msg
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}

	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether err is an Error of the kind.
func Is(err error, k Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}

// App is what identifies this application to Strava.
type App struct {
	ID     string `json:"clientId"`
	Secret string `json:"clientSecret"`
}

// Client calls the API. Open returns one. Its errors are of type *Error.
type Client struct {
	base string // of consent and tokens
	api  string // of everything else
	app  App
	http *http.Client
	now  func() time.Time
}

// Open returns a client of Strava at base, as BaseURL. now is the time by which the windows of rate
// limits are computed. It does not follow redirects, which would send tokens to another
// host.
func Open(base string, app App, transport http.RoundTripper, now func() time.Time) *Client {
	base = strings.TrimSuffix(base, "/")

	return &Client{base: base, api: base + "/api/v3", app: app, now: now, http: &http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// WithAPI returns a client whose API is at base, which includes the path of the version, if it has one.
// Consent and tokens stay where they are. For "" it returns c.
func (c *Client) WithAPI(base string) *Client {
	if base == "" {
		return c
	}

	other := *c
	other.api = strings.TrimSuffix(base, "/")

	return &other
}

const (
	timeout = 15 * time.Second
	maxBody = 8 << 20 // bytes: a page of 200 activities has about 600 kB
)

// AuthorizeURL returns where a user grants access. Strava then redirects to back, with
// state, and with code and scope or with error.
func (c *Client) AuthorizeURL(back, state string) string {
	return c.base + "/oauth/authorize?" + url.Values{
		"client_id": {c.app.ID}, "redirect_uri": {back}, "response_type": {"code"}, "approval_prompt": {"auto"},
		"scope": {strings.Join(Scopes, ",")}, "state": {state},
	}.Encode()
}

// Token is what authorizes calls for a user.
type Token struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresAt int64  `json:"expires_at"` // epoch s
	Athlete   struct {
		ID int64 `json:"id"`
	} `json:"athlete"` // of Exchange only
}

// Exchange returns the token for a code, which is valid once. An Invalid error means that
// the code is not valid, and a Full error that no more athletes can be connected.
func (c *Client) Exchange(ctx context.Context, code string) (t Token, err error) {
	err = c.post(ctx, c.base+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {code}}, &t)
	if err == nil && (t.Access == "" || t.Refresh == "" || t.Athlete.ID == 0) {
		err = &Error{Kind: Unavailable, Status: http.StatusOK, Msg: "the answer with a token is incomplete"}
	}

	return t, err
}

// Refresh returns a new token. If the answer has another refresh token, the old one is not valid
// any more. An Unauthorized error means that the refresh token is not valid any more, and that the
// user must connect again. An Invalid error does not concern the token: this application's id or
// secret is wrong, for example.
func (c *Client) Refresh(ctx context.Context, refresh string) (t Token, err error) {
	err = c.post(ctx, c.base+"/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}, &t)
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != Limited && e.Kind != Unavailable && e.Kind != Inactive {
		e.Kind = Invalid
		if (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized) && e.Resource != "" && e.Resource != application {
			e.Kind = Unauthorized
		}
	}

	if err == nil && (t.Access == "" || t.Refresh == "") {
		err = &Error{Kind: Unavailable, Status: http.StatusOK, Msg: "the answer with a token is incomplete"}
	}

	return t, err
}

// Revoke ends this application's access to the athlete of a token: of a refresh token, or of an access
// token, whose pair it ends too. It needs no valid access token, so that none is renewed for it. It
// returns nil for a token that is not valid any more, because the access has ended.
func (c *Client) Revoke(ctx context.Context, token string) error {
	r := c.request(http.MethodPost, c.base+"/oauth/revoke", url.Values{"token": {token}})
	r.user, r.password = c.app.ID, c.app.Secret
	err := c.do(ctx, r, nil)

	e, ok := errors.AsType[*Error](err)
	if ok && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized) && e.Resource != "" && e.Resource != application {
		return nil
	}

	return err
}

// application is the Resource of a refusal that concerns this application, and no athlete.
const application = "Application"

// Activity returns one of the user's activities.
func (c *Client) Activity(ctx context.Context, access, id string) (a Activity, err error) {
	err = c.read(ctx, "/activities/"+url.PathEscape(id)+"?include_all_efforts=false", access, &a)
	if err == nil && a.ID == 0 {
		err = &Error{Kind: Unavailable, Status: http.StatusOK, Msg: "the answer is no activity"}
	}

	return a, err
}

// PageSize is the number of activities on a page. A page may have fewer: only an empty page is the
// last.
const PageSize = 200

// Activities returns a page, from 1, of the user's activities that begin after a time, the
// oldest first.
func (c *Client) Activities(ctx context.Context, access string, after time.Time, page int) (all []Activity, err error) {
	q := url.Values{"after": {strconv.FormatInt(after.Unix(), 10)}, "page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(PageSize)}}
	err = c.read(ctx, "/athlete/activities?"+q.Encode(), access, &all)

	return all, err
}

// Subscription is that of the application to webhooks. There is at most one.
type Subscription struct {
	ID       int64  `json:"id"`
	Callback string `json:"callback_url"`
}

// Subscribe creates the subscription. Before it answers, Strava calls the callback with
// verify. An Invalid error means that there is one already, or that the callback did not
// answer as it must.
func (c *Client) Subscribe(ctx context.Context, callback, verify string) (s Subscription, err error) {
	err = c.post(ctx, c.api+"/push_subscriptions", url.Values{"callback_url": {callback}, "verify_token": {verify}}, &s)
	return s, err
}

// Subscriptions returns the subscription, if there is one.
func (c *Client) Subscriptions(ctx context.Context) (all []Subscription, err error) {
	err = c.read(ctx, "/push_subscriptions?"+c.identify(nil).Encode(), "", &all)
	return all, err
}

// Unsubscribe deletes the subscription. One that does not exist is no error.
func (c *Client) Unsubscribe(ctx context.Context, id int64) error {
	to := fmt.Sprintf("%s/push_subscriptions/%d?%s", c.api, id, c.identify(nil).Encode())

	err := c.do(ctx, c.request(http.MethodDelete, to, nil), nil)
	if Is(err, NotFound) {
		return nil
	}

	return err
}

// identify adds the application's id and secret.
func (c *Client) identify(form url.Values) url.Values {
	if form == nil {
		form = url.Values{}
	}

	form.Set("client_id", c.app.ID)
	form.Set("client_secret", c.app.Secret)

	return form
}

func (c *Client) post(ctx context.Context, to string, form url.Values, out any) error {
	return c.do(ctx, c.request(http.MethodPost, to, c.identify(form)), out)
}

// read makes a call of the API, with the access token unless it is "".
func (c *Client) read(ctx context.Context, path, access string, out any) error {
	r := c.request(http.MethodGet, c.api+path, nil)
	r.access = access

	return c.do(ctx, r, out)
}

// request is a call.
type request struct {
	method, to string
	form       url.Values
	access     string // an access token, which only the header Authorization has
	user       string // with a password, in place of an access token
	password   string
}

func (c *Client) request(method, to string, form url.Values) request {
	return request{method: method, to: to, form: form}
}

// name returns the method and the path: the query may hold the secret.
func (r request) name() string {
	_, path, _ := strings.Cut(r.to, "://")
	path, _, _ = strings.Cut(path, "?")

	_, path, _ = strings.Cut(path, "/")

	return r.method + " /" + path
}

// do makes a call, and decodes the answer into out unless that is nil.
func (c *Client) do(ctx context.Context, of request, out any) error {
	name := of.name()

	var body io.Reader
	if of.form != nil {
		body = strings.NewReader(of.form.Encode())
	}

	r, err := http.NewRequestWithContext(ctx, of.method, of.to, body)
	if err != nil {
		return &Error{Kind: Invalid, Msg: name + ": the request cannot be made"}
	}

	if of.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	switch {
	case of.access != "":
		r.Header.Set("Authorization", "Bearer "+of.access)
	case of.user != "":
		r.SetBasicAuth(of.user, of.password)
	}

	answer, err := c.http.Do(r)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the URL
	}

	if err != nil {
		return &Error{Kind: Unavailable, Msg: name, Err: err}
	}
	defer answer.Body.Close()

	text, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case answer.StatusCode > 299:
		return c.refusal(name, answer, text)
	case err != nil || len(text) > maxBody:
		return &Error{Kind: Unavailable, Status: answer.StatusCode, Msg: name + ": the answer is cut off", Err: err}
	case out == nil:
		return nil
	}

	if err := json.NewDecoder(bytes.NewReader(text)).Decode(out); err != nil {
		return &Error{Kind: Unavailable, Status: answer.StatusCode, Msg: name + ": the answer is not the JSON expected"}
	}

	return nil
}

// fault is a reason in the body of a refusal.
type fault struct{ Resource, Field, Code string }

// inactive is the reason of an application whose owner must subscribe and press reactivate at
// strava.com/settings/api.
var inactive = fault{"Application", "Status", "Inactive"}

// refusal returns the error of an answer that is not a success.
func (c *Client) refusal(name string, answer *http.Response, text []byte) error {
	e := &Error{Kind: Invalid, Status: answer.StatusCode, Msg: name + ": " + answer.Status}

	var body struct {
		Errors []fault
	}

	known := json.Unmarshal(text, &body) == nil // a body that is not JSON has no reason
	if known && len(body.Errors) > 0 {
		e.Resource = body.Errors[0].Resource
	}

	switch s := answer.StatusCode; {
	case s < 400 || s >= 500 || s == http.StatusRequestTimeout:
		e.Kind = Unavailable
	case s == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = Limited, c.window(answer.Header)
	case s == http.StatusUnauthorized:
		e.Kind = Unauthorized
	case s == http.StatusForbidden && bytes.Contains(bytes.ToLower(text), []byte("connected athletes")):
		e.Kind = Full
	case s == http.StatusNotFound && (len(text) > 0 && !known || e.Resource == "resource"): // the path: no activity is gone
		e.Kind = Unavailable
	case s == http.StatusNotFound:
		e.Kind = NotFound
	case s == http.StatusForbidden && len(body.Errors) > 0 && body.Errors[0] == inactive:
		e.Kind = Inactive
	}

	return e
}

// window returns how long it takes until the exceeded limit starts again: the next
// quarter of an hour, or midnight UTC if a limit of the day is exceeded. Each header is
// "quarter,day": https://developers.strava.com/docs/rate-limits/
func (c *Client) window(h http.Header) time.Duration {
	now := c.now().UTC()

	for _, kind := range []string{"X-Ratelimit", "X-Readratelimit"} {
		_, limit, ok := strings.Cut(h.Get(kind+"-Limit"), ",")
		_, used, ok2 := strings.Cut(h.Get(kind+"-Usage"), ",")
		most, err := strconv.Atoi(strings.TrimSpace(limit))

		n, err2 := strconv.Atoi(strings.TrimSpace(used))
		if ok && ok2 && err == nil && err2 == nil && n >= most {
			return now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
		}
	}

	return now.Truncate(15 * time.Minute).Add(15 * time.Minute).Sub(now)
}
