// Package session keeps users of a web page signed in by a cookie, and tells them from the users of native
// apps, who send a bearer token.
//
// The cookie contains a random token, and the room's table only its SHA-256: a reader of the
// table cannot sign in. Scripts cannot read the cookie (HttpOnly), other sites cannot use it to
// change something (SameSite=Lax, and the check of Origin), and it never travels unencrypted
// (Secure). Browsers accept it from the API's own host only (__Host-): another host of the site could
// otherwise sign a browser in to another account. A page of another site than the API cannot keep its
// users signed in, because its fetch does not send the cookie: infra/stage requires one site.
//
// A native app sends its token in the header Authorization (RFC 6750, 2.1), and no Origin: no browser adds
// the header to the request of another site's page. A token is never taken from a cookie, and that of a
// cookie never from the header.
package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/kit/problem"
)

// tokenSize is the number of random bytes of a token.
const tokenSize = 32

// New returns a new token, for the cookie, and its id, for the table.
func New() (token, id string) {
	var b [tokenSize]byte
	rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])

	return token, ID(token)
}

// ID returns the id under which the table holds a token.
func ID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Cookie is a cookie of a room, such as that of its sessions.
type Cookie struct {
	Name     string // without the prefix of FullName
	Lifetime time.Duration
}

// FullName returns the name that browsers know. Of a name with this prefix they refuse a cookie that is not
// Secure, has a Domain or another Path than "/" (RFC 6265bis, 4.1.3.2).
func (c Cookie) FullName() string { return "__Host-" + c.Name }

// Set returns the Set-Cookie header that signs in.
func (c Cookie) Set(token string) string { return c.header(token, int(c.Lifetime.Seconds())) }

// Clear returns the Set-Cookie header that signs out.
func (c Cookie) Clear() string { return c.header("", -1) }

func (c Cookie) header(token string, seconds int) string {
	h := http.Cookie{
		Name:     c.FullName(),
		Value:    token,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode,
	}
	return h.String()
}

// Token returns the token from the cookies of a request, each "name=value". It is "" if there is
// none, or if New cannot have made it.
func (c Cookie) Token(cookies []string) string {
	for _, line := range cookies {
		all, _ := http.ParseCookie(line) // none if the line is malformed
		for _, one := range all {
			if b, err := base64.RawURLEncoding.Strict().DecodeString(one.Value); one.Name == c.FullName() && err == nil && len(b) == tokenSize {
				return one.Value
			}
		}
	}

	return ""
}

// Errors of Identify and CheckOrigin.
var (
	ErrToken = problem.New(problem.Unauthenticated, "invalid_token",
		"the token is not valid here, or has expired: refresh it, or sign in again")
	ErrBoth = problem.New(problem.Unauthenticated, "two_credentials", "send the cookie of a session or a bearer token, not both")

	ErrMissing = problem.New(problem.Unauthenticated, "missing_session", "sign in first")
	ErrInvalid = problem.New(problem.Unauthenticated, "invalid_session", "the session has ended: sign in again")
	ErrOrigin  = problem.New(problem.Denied, "wrong_origin", "this request must come from a page of the app")
)

// Session is a session in the table.
type Session struct {
	UserID  string
	Expires time.Time
	Native  bool // it is of a native app, which sends the token as a bearer token
}

// Sessions identifies the callers of a room. A service embeds it, so that routes with sessions
// find it: see httpapi.Lambda.
type Sessions struct {
	Cookie  Cookie
	Origins []string // of the pages that may change something: "https://app.example.com"
	Now     func() time.Time
	// Find reads a session by its id, strongly consistently. ok is false if there is none.
	Find func(ctx context.Context, id string) (s Session, ok bool, err error)
	// Bearer returns the user of a bearer token, or ErrToken. It may be nil: then no token is valid.
	Bearer func(ctx context.Context, token string) (userID string, err error)
}

// Identify returns the user of a request's session, or of its bearer token. A request with a cookie that may
// change something must come from one of Origins. A request with both is refused: no browser sends a token, and
// what follows must not depend on which one is read. Errors: ErrMissing, ErrInvalid, ErrToken, ErrBoth, and those
// of CheckOrigin.
func (s Sessions) Identify(ctx context.Context, e events.APIGatewayV2HTTPRequest) (userID string, err error) {
	token := s.Cookie.Token(e.Cookies)

	if bearer, given := bearerOf(e.Headers["authorization"]); given && token != "" {
		return "", ErrBoth
	} else if given {
		return s.App(ctx, bearer)
	}

	if token == "" {
		return "", ErrMissing
	}

	_, sent := e.Headers["origin"]
	if method := e.RequestContext.HTTP.Method; method != http.MethodGet && method != http.MethodHead && !sent {
		return "", ErrOrigin
	}

	if err := s.CheckOrigin(e); err != nil {
		return "", err
	}

	return s.User(ctx, token)
}

// CheckOrigin returns ErrOrigin for a request that names its origin, if that is none of Origins. Browsers
// name the origin of a page that sends a request, and none when the user follows a link.
func (s Sessions) CheckOrigin(e events.APIGatewayV2HTTPRequest) error {
	origin, sent := e.Headers["origin"]
	if sent && (origin == "" || !slices.Contains(s.Origins, origin)) { // a setting that is empty has the origin ""
		return ErrOrigin
	}

	return nil
}

// User returns the user of a cookie's token. It returns ErrInvalid for a session that has expired,
// although the table may keep it for days, and for one of a native app.
func (s Sessions) User(ctx context.Context, token string) (userID string, err error) {
	return s.user(ctx, token, false, ErrInvalid)
}

// App returns the user of a bearer token, "" for none. Errors: ErrToken.
func (s Sessions) App(ctx context.Context, token string) (userID string, err error) {
	if s.Bearer == nil || token == "" {
		return "", ErrToken
	}

	return s.Bearer(ctx, token)
}

// NativeUser is User for the session of a native app. A room whose bearer tokens are those of sessions has it
// as Bearer. Errors: ErrToken.
func (s Sessions) NativeUser(ctx context.Context, token string) (userID string, err error) {
	return s.user(ctx, token, true, ErrToken)
}

// user returns the user of a session for browsers or for native apps, and refused for any other token.
func (s Sessions) user(ctx context.Context, token string, native bool, refused error) (userID string, err error) {
	found, ok, err := s.Find(ctx, ID(token))
	if err != nil {
		return "", err
	}

	if !ok || found.Native != native || !s.Now().Before(found.Expires) {
		return "", refused
	}

	return found.UserID, nil
}

// bearerOf returns the token of a header Authorization. given is false for another scheme, whose name has no
// case (RFC 9110, 11.1).
func bearerOf(authorization string) (token string, given bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}

	return strings.TrimSpace(token), true
}
