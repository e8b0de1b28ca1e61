// Package signin signs browsers and native apps in by a link in a mail, and out.
//
// A link holds an id and a secret, of which the table has the SHA-256 only. It is valid for 15
// minutes and once. A caller who follows it has proved to own the address, and gets the account of
// the user pool that has the address; the first time it is created.
//
// The browser that asks for a link gets a cookie, of which the link has the hash. Another browser must
// confirm that its user wants to sign in there: otherwise anybody could sign somebody in to another
// account, by a link of their own.
//
// A session ends ten days after its last use, and 30 days after the sign-in. The cookie lasts 30 days, and
// the row of the session is renewed when an app asks who is signed in, which it does when it opens.
//
// A native app gets the token of its session in the answer, and sends it as a bearer token. The session is of
// the app only: the token is no cookie, and that of a cookie no bearer token. A page of a browser gets a cookie,
// which its scripts cannot read.
package signin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// Cookie is the cookie of a session. Its lifetime is the longest that a session lasts.
var Cookie = session.Cookie{Name: "threefc_session", Lifetime: 30 * 24 * time.Hour}

// idle is how long a session lasts without use: longer than a week, because most leagues play once a week.
const idle = 10 * 24 * time.Hour

// renewEvery bounds the writes: a session that would last less than this longer is not renewed.
const renewEvery = 24 * time.Hour

// ends returns when a session ends that has begun at a time and is used now.
func ends(begun, now time.Time) time.Time {
	if last := begun.Add(Cookie.Lifetime); now.Add(idle).After(last) {
		return last
	}

	return now.Add(idle)
}

// linkLifetime is how long a link is valid.
const linkLifetime = 15 * time.Minute

// Asked is the cookie of a browser that has asked for a link.
var Asked = session.Cookie{Name: "threefc_asked", Lifetime: linkLifetime}

// ErrLink refuses a token that is unknown, was used, or has expired.
var ErrLink = problem.New(problem.Unauthenticated, "invalid_or_expired_magic_link",
	"this link was used, or is older than 15 minutes: ask for another")

// errBrowser asks the user of another browser than the one that has asked for the link.
var errBrowser = problem.New(problem.Conflict, "another_browser",
	"another browser has asked for this link: send it again with anotherBrowser, if the user wants to sign in here").In("body.anotherBrowser")

// errPage refuses a token to a page of a browser.
var errPage = problem.New(problem.Unprocessable, "not_a_native_app",
	"a page of a browser gets a cookie, which scripts cannot read: leave out client").In("body.client")

// native is the client that is an app of a phone.
const native = "native"

// link is a link in a mail.
type link struct {
	Email  string `json:"email"`
	Secret string `json:"tokenHash"` // the SHA-256 of the secret
	UsedAt string `json:"usedAt,omitempty"`
	// Asked is the SHA-256 of the cookie of the browser that has asked for the link. "" is any.
	Asked string `json:"asked,omitempty"`
}

// login is a session. It has a copy without data under the user.
type login struct {
	UserID string `json:"userId"`
	Email  string `json:"email"`
	Client string `json:"client,omitempty"` // native, or "" for a browser
}

// Base has what every service of the room needs: the table, the clock, the sessions of callers, and
// the answers to repeated requests.
type Base struct {
	session.Sessions
	DB      dynamo.DB
	Now     func() time.Time
	Answers idem.Store
	Links   web.Links
}

// NewBase returns the base of a service.
func NewBase(env app.Env) Base {
	db, links := dynamo.Open(env.AWS, env.Prefix), web.NewLinks(env)

	b := Base{
		DB: db, Now: env.Now, Links: links,
		Sessions: session.Sessions{
			// The room's own pages have the origin of the API.
			Cookie: Cookie, Origins: append(strings.Split(env.Setting(spec.EnvOrigins), ","), links.Origin()), Now: env.Now,
			Find: func(ctx context.Context, id string) (session.Session, bool, error) {
				row, ok, err := dynamo.Get[item.Row[login]](ctx, db, tables.ResolveSession, item.LoginKey(id), item.Metadata)
				found := session.Session{UserID: row.V().UserID, Expires: time.Unix(row.TTL, 0), Native: row.V().Client == native}

				return found, ok, err
			},
		},
		Answers: idem.Store{
			DB: db,
			Find: func(ctx context.Context, userID, id string) (idem.Record, bool, error) {
				row, ok, err := dynamo.Get[item.Row[idem.Record]](ctx, db, tables.FindAnswer, item.UserKey(userID), item.Answers+id)
				return *row.V(), ok && env.Now().Unix() < row.TTL, err
			},
			Write: func(userID, id string, r idem.Record) dynamo.Write {
				row := item.New(item.UserKey(userID), item.Answers+id, "Answer", r, env.Now())
				row.TTL = env.Now().Add(idem.Lifetime).Unix()
				free := dynamo.Absent[item.Row[idem.Record]]("pk").Or(dynamo.AtMost[item.Row[idem.Record]]("ttlEpoch", env.Now().Unix()))

				return dynamo.PutWrite(row, free)
			},
			Allow: func(ctx context.Context, userID, right string) error { return item.CheckAgain(ctx, db, userID, right) },
		},
	}
	b.Bearer = b.NativeUser

	return b
}

// Email returns the address with which the owner of a session's token has signed in. Errors:
// session.ErrInvalid.
func (b Base) Email(ctx context.Context, token string) (string, error) {
	row, err := item.Read[login](ctx, b.DB, tables.ResolveSession, item.LoginKey(session.ID(token)), item.Metadata, session.ErrInvalid)
	return row.V().Email, err
}

// Mailer is the service that mails links.
type Mailer struct {
	Base
	mail mail.Sender
}

// OpenMailer opens the service.
func OpenMailer(_ context.Context, env app.Env) (*Mailer, error) {
	return &Mailer{NewBase(env), mail.Open(env.AWS, env.Setting(MailFrom))}, nil
}

// Service is the service of the sign-in.
type Service struct {
	Base
	pool userpool.Pool
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{NewBase(env), userpool.Open(env.AWS, env.Pool)}, nil
}

// Start is the request for a link.
type Start struct {
	session.Browser
	Body struct {
		Email string `json:"email" format:"email" doc:"The address. Anybody who can read its mails can sign in." example:"lena@example.com"`
	}
}

// Started is the answer that a mail is on its way.
type Started struct {
	Status    int
	SetCookie string `header:"Set-Cookie" doc:"A cookie by which the link knows the browser."`
	Body      struct {
		ExpiresIn int `json:"expiresInSeconds" doc:"How long the link is valid, in seconds." example:"900"`
	}
}

// StartFunction mails a link that signs in to the owner of an address.
func StartFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/start-sign-in",
		Does:   "Mails a link that signs in to the owner of an address.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "POST", Path: "/v1/auth/magic/start", Auth: spec.Browser, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.PutLink}, Mail: []spec.MailSender{Mails}, Limits: []spec.Limit{MaxLinks, MaxAddressLinks, MaxCallerLinks},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenMailer, (*Mailer).Start, mail.ErrOff, mail.ErrRefused)
}

// Start mails a link. Each request mails another; all are valid. The answer does not reveal whether
// the address has an account. Errors: too_many_links,
// too_many_links_of_address, too_many_sign_ins.
func (s *Mailer) Start(ctx context.Context, in *Start) (*Started, error) {
	cookie, err := s.start(ctx, in.Browser, in.Body.Email, "")
	if err != nil {
		return nil, err
	}

	out := &Started{Status: http.StatusAccepted, SetCookie: cookie}
	out.Body.ExpiresIn = int(linkLifetime.Seconds())

	return out, nil
}

// start mails a link, and returns the cookie by which it knows the browser. next is the path of the page
// to which the user wants to go afterwards, "" for none.
func (s *Mailer) start(ctx context.Context, by session.Browser, to, next string) (cookie string, err error) {
	email := strings.ToLower(to)
	id, _ := session.New()
	secret, hash := session.New()

	asked := by.Token(Asked) // of a link before, which stays valid in this browser
	if asked == "" {
		asked, _ = session.New()
	}

	one := link{Email: email, Secret: hash, Asked: session.ID(asked)}
	if err := dynamo.Retry(ctx, item.Attempts, func() error { return s.put(ctx, id, one) }); err != nil {
		return "", err
	}
	// The token is in the query string, which no access log has. A fragment would need a script.
	query := url.Values{"token": {id + "." + secret}}
	if next != "" {
		query.Set("next", next)
	}

	return Asked.Set(asked), s.mail.Send(ctx, mail.Message{
		To: email, Subject: "Sign in to 3FC",
		Text: "Follow this link to sign in to 3FC. It is valid for 15 minutes, and once.\n\n" + s.Links.To("sign-in") + "?" +
			query.Encode() + "\n\nIf you have not asked for it, ignore this mail.\n",
	})
}

// put stores a link, and counts it for its address, for the caller, and for both. No count depends
// on whether the address has an account.
func (s *Mailer) put(ctx context.Context, id string, one link) error {
	email, now, caller := one.Email, s.Now(), CallerOf(ctx)
	sum, both := sha256.Sum256([]byte(email)), sha256.Sum256([]byte(email+"\n"+caller))
	pair := item.Counter{PK: item.MailKey(hex.EncodeToString(both[:])), SK: item.Metadata, Type: "AuthMail", Limit: MaxLinks}

	byPair, err := pair.Take(ctx, s.DB, tables.PutLink, now)
	if err != nil {
		return err
	}

	to := item.Counter{PK: item.MailKey(hex.EncodeToString(sum[:])), SK: item.Metadata, Type: "AuthMail", Limit: MaxAddressLinks}

	toAddress, err := to.Take(ctx, s.DB, tables.PutLink, now)
	if err != nil {
		return err
	}

	by := item.Counter{PK: item.CallerKey(caller), SK: item.Metadata, Type: "AuthCaller", Limit: MaxCallerLinks}

	byCaller, err := by.Take(ctx, s.DB, tables.PutLink, now)
	if err != nil {
		return err
	}

	row := item.New(item.LinkKey(id), item.Metadata, "AuthLink", one, now)
	row.TTL = now.Add(linkLifetime).Unix()

	return dynamo.Transact(ctx, s.DB, tables.PutLink, row.Create(), byPair, toAddress, byCaller)
}

// Complete is the request of a browser or an app that has followed a link.
type Complete struct {
	session.Browser
	Body struct {
		Another bool   `json:"anotherBrowser,omitempty" doc:"The user has confirmed to sign in here, although another browser has asked for the link."`
		Client  string `json:"client,omitempty" enum:"native" doc:"Who gets the session: an app of a phone gets its token in the answer. Absent: a browser, which gets a cookie."`
		Token   string `json:"token" minLength:"1" maxLength:"128" doc:"The parameter token of the link." example:"kXJ3gq0w6m2Yd8Jr1vQ4bT7nL5cF9hZsAeUiOpWxRtE"`
	}
}

// Account is the answer with who is signed in.
type Account struct {
	SetCookie string `header:"Set-Cookie" doc:"The cookie of the session."`
	Body      struct {
		UserID string `json:"userId" doc:"The id of the user."`
		Email  string `json:"email" doc:"The address of the account."`
		Token  string `json:"token,omitempty" doc:"The token of a native app, for Authorization: Bearer. Absent for a browser."`
	}
}

// CompleteFunction signs in the browser or the app that has the token of a link, once.
func CompleteFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/finish-sign-in",
		Does:   "Signs in the browser or the app that has the token of a link, once.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "POST", Path: "/v1/auth/magic/complete", Auth: spec.Browser},
		Uses:   []spec.Access{tables.TakeLink, tables.CreateLogin, account.CheckDeleted},
		Users:  []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).Complete, ErrLink, errBrowser, errPage, account.ErrDeleted, userpool.ErrUnverified)
}

// Complete signs in: it marks the link as used and creates the session in one transaction.
// A second run with the same token is refused, also if its answer was lost. Errors:
// ErrLink, another_browser, not_a_native_app, account.ErrDeleted while the account is being deleted,
// userpool.ErrUnverified.
func (s *Service) Complete(ctx context.Context, in *Complete) (*Account, error) {
	if in.Body.Client == native && in.IsPage() {
		return nil, errPage
	}

	id, secret, _ := strings.Cut(in.Body.Token, ".")

	row, err := item.Read[link](ctx, s.DB, tables.TakeLink, item.LinkKey(id), item.Metadata, ErrLink)
	if err != nil {
		return nil, err
	}

	now := s.Now()

	known := subtle.ConstantTimeCompare([]byte(session.ID(secret)), []byte(row.V().Secret)) == 1
	if !known || row.V().UsedAt != "" || now.Unix() >= row.TTL {
		return nil, ErrLink
	}
	// A link that was stored before there was a cookie signs in any browser.
	if asked := row.V().Asked; asked != "" && !in.Body.Another && session.ID(in.Token(Asked)) != asked {
		return nil, errBrowser
	}

	userID, err := s.pool.Ensure(ctx, row.V().Email)
	if err != nil {
		return nil, err
	}

	token, loginID := session.New()
	begun := item.New(item.LoginKey(loginID), item.Metadata, "AuthSession", login{userID, row.V().Email, in.Body.Client}, now)
	begun.TTL = ends(now, now).Unix()
	row.V().UsedAt = item.Format(now)
	_, used := row.Save(now)

	err = dynamo.Transact(account.Require(ctx, userID), s.DB, tables.CreateLogin, used, begun.Create(),
		begun.Mirror(item.UserKey(userID), item.LoginKey(loginID)))
	if err != nil {
		return nil, dynamo.RefusedAs(err, ErrLink)
	}

	out := &Account{}
	if out.Body.UserID, out.Body.Email = userID, row.V().Email; in.Body.Client == native {
		out.Body.Token = token
	} else {
		out.SetCookie = Cookie.Set(token)
	}

	return out, nil
}

// Get is the request for the caller.
type Get struct{ session.Browser }

// GetFunction returns who is signed in.
func GetFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-sign-in",
		Does:   "Returns who is signed in, and renews the session: it ends after ten days without, and 30 days after the sign-in.",
		IfDown: "The app does not open.",
		On:     spec.Route{Method: "GET", Path: "/v1/auth/session", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.RenewLogin, account.CheckDeleted},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).Get, account.ErrDeleted, session.ErrInvalid)
}

// Get returns the caller, and renews the session at most once a day. A second run changes nothing.
func (s *Service) Get(ctx context.Context, in *Get) (*Account, error) {
	row, err := item.Read[login](ctx, s.DB, tables.ResolveSession, item.LoginKey(session.ID(in.Credential(Cookie))),
		item.Metadata, session.ErrInvalid)
	if err != nil {
		return nil, err
	}

	if err := s.renew(ctx, row); err != nil {
		return nil, err
	}

	out := &Account{}
	out.Body.UserID, out.Body.Email = row.V().UserID, row.V().Email

	return out, nil
}

// renew lets a session and its copy last longer, unless it has ended meanwhile.
func (s *Service) renew(ctx context.Context, row item.Row[login]) error {
	now := s.Now()

	until := ends(item.Parse(row.CreatedAt), now)
	if until.Sub(time.Unix(row.TTL, 0)) < renewEvery {
		return nil
	}

	row.TTL = until.Unix()
	row, saved := row.Save(now)
	err := dynamo.Transact(ctx, s.DB, tables.RenewLogin, saved, row.Mirror(item.UserKey(row.V().UserID), row.PK))

	return dynamo.IgnoreRefused(err)
}

// End is the request to sign out.
type End struct{ session.Browser }

// Ended is the answer that the session has ended.
type Ended struct {
	Status    int
	SetCookie string `header:"Set-Cookie" doc:"It clears the cookie of a browser."`
}

// EndFunction ends the caller's session.
func EndFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/sign-out",
		Does:   "Ends the caller's session.",
		IfDown: "Users cannot sign out.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/auth/session", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.DropLogin},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).End, session.ErrInvalid)
}

// End ends the session of the browser or of the app. A second run is refused: there is no session.
func (s *Service) End(ctx context.Context, in *End) (*Ended, error) {
	token, of, out := in.Credential(Cookie), s.User, &Ended{Status: http.StatusNoContent, SetCookie: Cookie.Clear()}
	if in.Bearer() != "" {
		of, out.SetCookie = s.App, ""
	}

	userID, err := of(ctx, token)
	if err != nil {
		return nil, err
	}

	login := item.LoginKey(session.ID(token))
	err = dynamo.Transact(ctx, s.DB, tables.DropLogin, dynamo.DeleteWrite(item.Key(login, item.Metadata)),
		dynamo.DeleteWrite(item.Key(item.UserKey(userID), login)))

	return out, err
}
