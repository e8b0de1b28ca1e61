// Package signin signs browsers in and out, by the sign-in page of the user pool, and identifies the callers
// of the room: browsers by a cookie, and native apps by an access token of the pool.
//
// The page proves who the user is by OpenID Connect's code flow with PKCE (RFC 7636). A state, a
// nonce and the verifier of PKCE are kept for ten minutes and used once. A cookie binds the state
// to the browser, so that an attacker cannot sign another person in to the attacker's account.
//
// A browser that comes back without success is sent to the app's page /app?login=failed&reason=CODE,
// and one that comes back from Strava to /app?strava=failed&reason=CODE. The codes are those of the
// problem documents, which programs get.
//
// A native app signs in at the pool itself, by its own client, with PKCE, in the browser of the system
// (RFC 8252), and refreshes its tokens there. It signs out by the pool's revocation of the refresh token: the
// room has no session of it. An access token is valid until it expires, at most 15 minutes later. After the
// deletion of the account the tombstone refuses what it writes, and once the profile is gone, everything.
package signin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Cookie is the cookie of a session.
var Cookie = session.Cookie{Name: "commitcollect_session", Lifetime: 30 * 24 * time.Hour}

// stateCookie binds a sign-in to the browser that began it.
var stateCookie = session.Cookie{Name: "commitcollect_state", Lifetime: keepState}

// keepState is how long a sign-in or a link to Strava may take.
const keepState = 10 * time.Minute

// Errors of the sign-in.
var (
	errDenied   = problem.New(problem.Invalid, "denied", "the sign-in was not completed")
	errNoCode   = problem.New(problem.Invalid, "missing_code", "the sign-in page sent no code")
	ErrState    = problem.New(problem.Invalid, "invalid_or_expired_state", "this sign-in took too long, or was begun elsewhere: begin again")
	errCode     = problem.New(problem.Invalid, "invalid_or_expired_code", "this code was used, or has expired: begin again")
	errExchange = problem.New(problem.Upstream, "token_exchange_failed", "the sign-in could not be confirmed: begin again")
)

// sessionRow is a session.
type sessionRow struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	UserID    string `dynamodbav:"userId"`
	CreatedAt string `dynamodbav:"createdAtUtc"`
	ExpiresAt int64  `dynamodbav:"expiresAtUtc"` // epoch s
	GSI1PK    string `dynamodbav:"GSI1PK"`
	GSI1SK    string `dynamodbav:"GSI1SK"`
}

// stateRow is a sign-in or a link to Strava that has begun.
type stateRow struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	ExpiresAt int64  `dynamodbav:"expiresAtUtc"` // epoch s
	UserID    string `dynamodbav:"userId,omitempty"`
	Verifier  string `dynamodbav:"verifier,omitempty"`
	Nonce     string `dynamodbav:"nonce,omitempty"`
	Consent   int    `dynamodbav:"consent,omitempty"` // version of the text that the user has agreed to, of a link
}

// Sessions returns the service that identifies the callers of the room.
func Sessions(env app.Env, db dynamo.DB) session.Sessions {
	return session.Sessions{
		Cookie: Cookie, Origins: strings.Split(env.Setting(spec.EnvOrigins), ","), Now: env.Now,
		Find: func(ctx context.Context, id string) (session.Session, bool, error) {
			row, ok, err := dynamo.Get[sessionRow](ctx, db, tables.ResolveSession, item.Session(id), item.Meta)
			return session.Session{UserID: row.UserID, Expires: time.Unix(row.ExpiresAt, 0)}, ok, err
		},
		Bearer: newApps(env, db).user,
	}
}

// States holds sign-ins and links that have begun, and that the same browser must finish.
type States struct {
	db  dynamo.DB
	now func() time.Time
}

// NewStates returns the states.
func NewStates(db dynamo.DB, now func() time.Time) States { return States{db, now} }

// Put keeps the state of a new link to Strava, with the version of the consent of its user, 0 for none.
func (s States) Put(ctx context.Context, userID string, consent int) (state string, err error) {
	state, _ = session.New()
	return state, s.put(ctx, item.Link, stateRow{UserID: userID, Consent: consent}, state)
}

func (s States) put(ctx context.Context, f item.Flow, row stateRow, state string) error {
	row.PK, row.SK, row.ExpiresAt = item.State(f, session.ID(state)), item.Meta, s.now().Add(keepState).Unix()
	return dynamo.Put(ctx, s.db, tables.PutState, row)
}

// Take deletes the state of a link to Strava, and returns its user and the version of the consent. It returns
// ErrState for one that does not exist, was taken before, has expired, or is of a sign-in.
func (s States) Take(ctx context.Context, state string) (userID string, consent int, err error) {
	row, err := s.take(ctx, item.Link, state)
	if err == nil && row.UserID == "" {
		err = ErrState
	}

	return row.UserID, row.Consent, err
}

// take deletes the state of a flow. States that were stored without their flow are not found: they
// are valid for ten minutes only, and whoever has one begins again.
func (s States) take(ctx context.Context, f item.Flow, state string) (row stateRow, err error) {
	was, err := dynamo.Delete(ctx, s.db, tables.TakeState, dynamo.Key(tables.TakeState, item.State(f, session.ID(state)), item.Meta),
		dynamo.Exists[stateRow]("PK"))
	if err != nil {
		return row, dynamo.RefusedAs(err, ErrState)
	}

	if err := attributevalue.UnmarshalMap(was, &row); err != nil {
		return row, err
	}

	if s.now().Unix() >= row.ExpiresAt {
		return row, ErrState
	}

	return row, nil
}

// Service is the service of the sign-in.
type Service struct {
	session.Sessions
	db     dynamo.DB
	states States
	trail  trail.Writer
	now    func() time.Time

	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	http     *http.Client
	logout   string // URL of the sign-in page's own logout
	page     string // the app
}

// Open opens the service.
func Open(ctx context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	client := &http.Client{Transport: env.HTTP, Timeout: env.Limit(10 * time.Second)}
	issuer, base, id := env.Setting(spec.EnvIssuer), env.Setting(spec.EnvSignIn), env.Setting(spec.EnvClient)
	page, _, _ := strings.Cut(env.Setting(spec.EnvOrigins), ",")
	s := &Service{
		Sessions: Sessions(env, db),
		db:       db,
		states:   NewStates(db, env.Now),
		trail:    trail.Open(db, env.Now),
		now:      env.Now,
		http:     client,
		page:     page,
		oauth: oauth2.Config{
			ClientID: id, RedirectURL: env.Setting(spec.EnvAPI) + spec.SignedIn, Scopes: []string{oidc.ScopeOpenID, "email"},
			Endpoint: oauth2.Endpoint{AuthURL: base + "/oauth2/authorize", TokenURL: base + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams},
		},
		logout: base + "/logout?" + url.Values{"client_id": {id}, "logout_uri": {page}}.Encode(),
	}
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), client), issuer+"/.well-known/jwks.json")
	s.verifier = oidc.NewVerifier(issuer, keys, &oidc.Config{ClientID: id, Now: env.Now})

	return s, nil
}

// Redirect is the answer that sends a browser elsewhere.
type Redirect struct {
	Status    int
	Location  string   `header:"Location" doc:"Where the browser goes."`
	SetCookie []string `header:"Set-Cookie" doc:"The cookies of the sign-in."`
}

// NewRedirect returns a Redirect that no cache keeps.
func NewRedirect(to string, cookies ...string) *Redirect {
	return &Redirect{Status: http.StatusFound, Location: to, SetCookie: cookies}
}

// StartLogin is the request to sign in.
type StartLogin struct{ session.Browser }

// StartLoginFunction redirects a browser to the sign-in page.
func StartLoginFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/start-login",
		Does:   "Redirects a browser to the sign-in page.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "GET", Path: "/auth/login", Auth: spec.Browser, Answers: []int{302}},
		Uses:   []spec.Access{tables.PutState}, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).StartLogin)
}

// StartLogin redirects to the sign-in page.
func (s *Service) StartLogin(ctx context.Context, _ *StartLogin) (*Redirect, error) {
	state, _ := session.New()
	nonce, _ := session.New()

	row := stateRow{Verifier: oauth2.GenerateVerifier(), Nonce: nonce}
	if err := s.states.put(ctx, item.SignIn, row, state); err != nil {
		return nil, err
	}

	to := s.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(row.Verifier), oidc.Nonce(nonce), oauth2.SetAuthURLParam("prompt", "login"))

	return NewRedirect(to, stateCookie.Set(state)), nil
}

// FinishLogin is the request of a browser that returns from the sign-in page.
type FinishLogin struct {
	session.Browser
	Visit
	Code        string `query:"code" maxLength:"2048" doc:"The code of the sign-in page."`
	State       string `query:"state" maxLength:"128" doc:"The state that start-login has sent along."`
	Error       string `query:"error" maxLength:"256" doc:"Why the sign-in page has no code."`
	Description string `query:"error_description" maxLength:"1024" doc:"The same for humans."`
}

// FinishLoginFunction signs a browser in that returns from the sign-in page, and redirects it to
// the app.
func FinishLoginFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/finish-login",
		Does:    "Signs a browser in that returns from the sign-in page, and redirects it to the app.",
		IfDown:  "Nobody can sign in.",
		On:      spec.Route{Method: "GET", Path: spec.SignedIn, Auth: spec.Browser, OthersCall: true, Answers: []int{302}},
		Uses:    []spec.Access{tables.TakeState, tables.CreateProfile, tables.CreateSession, tables.WriteAudit, account.CheckDeleted},
		SignIn:  true,
		Memory:  256,
		Timeout: 15 * time.Second,
	}, Open, (*Service).FinishLogin, ErrState, errCode, errDenied, errExchange, errNoCode, account.ErrDeleted)
}

// FinishLogin creates a session, and at the first sign-in the profile. The code and the
// state are valid once: a second run is refused with ErrState. A browser gets a page of the app also
// for an error. Errors: denied, missing_code, ErrState, invalid_or_expired_code,
// token_exchange_failed, account.ErrDeleted.
func (s *Service) FinishLogin(ctx context.Context, in *FinishLogin) (*Redirect, error) {
	out, err := s.finishLogin(ctx, in)
	return in.Landing(ctx, s.now(), s.page, "login", out, err)
}

func (s *Service) finishLogin(ctx context.Context, in *FinishLogin) (*Redirect, error) {
	switch {
	case in.Error != "":
		return nil, errDenied.In("query.error")
	case in.Code == "":
		return nil, errNoCode.In("query.code")
	case in.State == "" || in.Token(stateCookie) != in.State:
		return nil, ErrState.In("query.state")
	}

	row, err := s.states.take(ctx, item.SignIn, in.State)
	if err == nil && (row.Verifier == "" || row.Nonce == "") { // nothing would bind the code and the token to the browser
		err = ErrState.In("query.state")
	}

	if err != nil {
		return nil, err
	}

	userID, email, err := s.exchange(ctx, in.Code, row)
	if err != nil {
		return nil, err
	}

	ctx = account.Require(ctx, userID)

	event, err := enter(ctx, s.db, item.NewUser(userID, email, s.now()))
	if err != nil {
		return nil, err
	}

	token, err := s.begin(ctx, userID)
	if err != nil {
		return nil, err
	}

	s.trail.Write(ctx, trail.Entry{Event: event, Result: trail.Success, UserID: userID})

	return NewRedirect(s.page+"/app?login=success", Cookie.Set(token), stateCookie.Clear()), nil
}

// exchange returns who has signed in. The reason of a failure is logged without the code.
func (s *Service) exchange(ctx context.Context, code string, row stateRow) (userID, email string, err error) {
	ctx = oidc.ClientContext(ctx, s.http)

	answer, err := s.oauth.Exchange(ctx, code, oauth2.VerifierOption(row.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if refused.ErrorCode == "invalid_grant" { // anybody may send any code
			return "", "", errCode.In("query.code")
		}

		return "", "", errExchange.Because(errors.New("the token endpoint answers " + cmp.Or(refused.ErrorCode, refused.Response.Status)))
	}

	if err != nil {
		return "", "", errExchange.Because(err)
	}

	raw, _ := answer.Extra("id_token").(string)

	token, err := s.verifier.Verify(ctx, raw)
	if err != nil {
		return "", "", errExchange.Because(errors.New("the ID token is not valid"))
	}

	var claims struct {
		Email string `json:"email"`
		Use   string `json:"token_use"`
	}
	if err := token.Claims(&claims); err != nil || token.Nonce != row.Nonce || claims.Use != "id" || token.Subject == "" {
		return "", "", errExchange.Because(errors.New("the ID token is of another sign-in"))
	}

	return token.Subject, claims.Email, nil
}

// enter creates the profile of a user who signs in for the first time.
func enter(ctx context.Context, db dynamo.DB, u item.UserRow) (trail.Event, error) {
	created, err := dynamo.Applied(dynamo.Put(ctx, db, tables.CreateProfile, u, dynamo.Absent[item.UserRow]("PK")))
	if created {
		return trail.SignUp, nil
	}

	return trail.LogIn, err
}

// begin creates a session, and returns its token.
func (s *Service) begin(ctx context.Context, userID string) (token string, err error) {
	token, id := session.New()
	now := s.now().UTC()

	return token, dynamo.Put(ctx, s.db, tables.CreateSession, sessionRow{
		PK: item.Session(id), SK: item.Meta, UserID: userID, CreatedAt: now.Format(time.RFC3339), ExpiresAt: now.Add(Cookie.Lifetime).Unix(),
		GSI1PK: item.User(userID), GSI1SK: "SESSION#" + now.Format(time.RFC3339) + "#" + id,
	})
}

// GetSession is the request for the caller's session.
type GetSession struct{ auth.User }

// Account is the answer with the caller.
type Account struct {
	Body struct {
		UserID string `json:"userId" doc:"The id of the user."`
		Email  string `json:"email" doc:"The address of the account."`
	}
}

// GetSessionFunction returns the user of a session.
func GetSessionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-session",
		Does:   "Returns whose session a cookie is.",
		IfDown: "The app takes everybody for signed out.",
		On:     spec.Route{Method: "GET", Path: "/session", Auth: spec.Session},
		Uses:   Caller(),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetSession, item.ErrNoUser, session.ErrInvalid)
}

// GetSession returns the caller.
func (s *Service) GetSession(ctx context.Context, in *GetSession) (*Account, error) {
	u, err := item.ReadUser(ctx, s.db, in.UserID)
	if errors.Is(err, item.ErrNoUser) { // the account was deleted, and the session outlived it
		err = session.ErrInvalid
	}

	if err != nil {
		return nil, err
	}

	out := &Account{}
	out.Body.UserID, out.Body.Email = in.UserID, u.Email

	return out, nil
}

// Logout is the request to end the caller's session.
type Logout struct{ session.Browser }

// FollowLogoutFunction ends a session as logout does, for a link.
func FollowLogoutFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/follow-logout",
		Does:   "Ends a session as logout does, for a link.",
		IfDown: "Nobody can sign out by a link.",
		On:     spec.Route{Method: "GET", Path: "/logout", Auth: spec.Browser, Answers: []int{302}},
		Uses:   logout, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).Logout, account.ErrDeleted, session.ErrInvalid)
}

// LogoutFunction ends a session, and redirects the browser to the logout of the sign-in page.
func LogoutFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/logout",
		Does:   "Ends a session, and redirects the browser to the end of that of the sign-in page.",
		IfDown: "Nobody can sign out.",
		On:     spec.Route{Method: "POST", Path: "/logout", Auth: spec.Browser, Answers: []int{302}},
		Uses:   logout, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).Logout, account.ErrDeleted, session.ErrInvalid)
}

// Logout ends the session of the browser, and clears its cookie. It succeeds whatever
// happens: a session that cannot be deleted expires.
func (s *Service) Logout(ctx context.Context, in *Logout) (*Redirect, error) {
	if token := in.Token(Cookie); token != "" {
		userID, err := s.User(ctx, token)
		if err == nil {
			key := dynamo.Key(tables.DropSession, item.Session(session.ID(token)), item.Meta)
			_, err = dynamo.Delete(ctx, s.db, tables.DropSession, key)
			s.trail.Write(ctx, trail.Entry{Event: trail.LogOut, Result: outcome(err), UserID: userID})
		}

		if err != nil && !errors.Is(err, session.ErrInvalid) {
			slog.ErrorContext(ctx, "a session could not be ended", "err", err)
		}
	}

	return NewRedirect(s.logout, Cookie.Clear()), nil
}

func outcome(err error) trail.Result {
	if err != nil {
		return trail.Failed
	}

	return trail.Success
}
