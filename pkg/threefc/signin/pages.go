package signin

import (
	"cmp"
	"context"
	_ "embed" // the templates
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/session"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Pages shows the pages of the sign-in.
type Pages struct {
	Service
	templates *template.Template
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := Open(ctx, env)
	return &Pages{*s, web.Parse(markup)}, err
}

// MailPages is Pages with the service that mails links.
type MailPages struct {
	Mailer
	templates *template.Template
}

// OpenMailPages opens the service.
func OpenMailPages(ctx context.Context, env app.Env) (*MailPages, error) {
	s, err := OpenMailer(ctx, env)
	return &MailPages{*s, web.Parse(markup)}, err
}

// paths are those of the pages to which a sign-in may lead. No other site is among them.
var paths = regexp.MustCompile(
	`^/(join/[0-9A-Za-z-]{1,32}|invitations/[0-9A-Z]{26}|sessions/[0-9A-Z]{26}/me|score/([0-9A-Z]{26}|last)|` +
		`members/[0-9A-Za-z-]{1,40}(\?(game=[0-9A-Za-z-]{1,40}&)?season=[0-9A-Za-z-]{1,40})?|` +
		`preferences/me|home|manage/[0-9A-Z]{26}(/(seasons|sessions|games)/[0-9A-Z]{26})?)$`)

// maxNext is the longest next of a request: with the slugs of a league, a season and a game a path is shorter.
const maxNext = 128

// pathOf returns the path of a page to which a sign-in may lead, "" for any other text.
func pathOf(next string) string {
	if len(next) > maxNext || !paths.MatchString(next) {
		return ""
	}

	return next
}

// To returns the address of the page of the sign-in, which leads to a path afterwards.
func To(l web.Links, next string) string {
	return l.To("sign-in") + "?" + url.Values{"next": {pathOf(next)}}.Encode()
}

// First asks a visitor to sign in before the page at a path.
func First(l web.Links, t *template.Template, why, next string) *web.Form {
	return l.Form(t, "text", http.StatusOK, web.Head{Title: "Sign in first", About: why},
		map[string]any{"Lines": []string{why}, "To": To(l, next), "ToText": "Sign in by mail"})
}

// Who returns the user of a browser, "" for one that is not signed in.
func (b Base) Who(ctx context.Context, by session.Browser) (userID string, err error) {
	token := by.Token(Cookie)
	if token == "" {
		return "", nil
	}

	if userID, err = b.User(ctx, token); errors.Is(err, session.ErrInvalid) {
		return "", nil
	}

	return userID, err
}

// ShowSignIn is the request for the page of the sign-in.
type ShowSignIn struct {
	session.Browser
	Token string `query:"token" maxLength:"128" doc:"The token of a link. Without it the page asks for an address." example:"kXJ3gq0w6m2Yd8Jr1vQ4bT7nL5cF9hZsAeUiOpWxRtE"`
	Next  string `query:"next" maxLength:"128" doc:"The path of the page that follows." example:"/preferences/me"`
}

// ShowSignInFunction shows the page of the sign-in.
func ShowSignInFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-sign-in-page",
		Does:   "Asks for an address, or whether to sign in by a link, in a browser.",
		IfDown: "Nobody can sign in on the pages.",
		On:     spec.Route{Method: "GET", Path: "/sign-in", Auth: spec.Browser, OthersCall: true},
		Uses:   []spec.Access{tables.ResolveSession},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowSignIn)
}

// ShowSignIn shows a form. It does not use the link: programs that check mails follow links, too.
func (s *Pages) ShowSignIn(ctx context.Context, in *ShowSignIn) (*web.Form, error) {
	data := map[string]any{"Next": pathOf(in.Next), "Token": in.Token}

	if in.Token == "" {
		userID, err := s.Who(ctx, in.Browser)
		if err != nil {
			return nil, err
		}

		if userID != "" {
			if data["Email"], err = s.Email(ctx, in.Browser.Token(Cookie)); err != nil {
				return nil, err
			}
		}
	}

	return s.Links.Form(s.templates, "sign-in", http.StatusOK, web.Head{Title: "Sign in to 3FC", About: "By a link in a mail."}, data), nil
}

// SendLink is the form with an address.
type SendLink struct {
	session.Browser
	Body struct {
		Email string `json:"email" format:"email" doc:"The address." example:"lena@example.com"`
		Next  string `json:"next,omitempty" maxLength:"128" doc:"The path of the page that follows." example:"/preferences/me"`
	} `contentType:"application/x-www-form-urlencoded"`
}

// SendLinkFunction mails a link to the address of a form.
func SendLinkFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/send-sign-in-link",
		Does:   "Mails a link that signs in to the address of a form.",
		IfDown: "Nobody can sign in on the pages.",
		On:     spec.Route{Method: "POST", Path: "/sign-in/mail", Auth: spec.Browser},
		Uses:   []spec.Access{tables.PutLink}, Mail: []spec.MailSender{Mails}, Limits: []spec.Limit{MaxLinks, MaxAddressLinks, MaxCallerLinks},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenMailPages, (*MailPages).SendLink, mail.ErrOff, mail.ErrRefused)
}

// SendLink is Mailer.Start for a form.
func (s *MailPages) SendLink(ctx context.Context, in *SendLink) (*web.Form, error) {
	cookie, err := s.start(ctx, in.Browser, in.Body.Email, pathOf(in.Body.Next))
	if err != nil {
		return nil, err
	}

	out := s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "Look into your mails", About: "A link is on its way."},
		map[string]any{"Lines": []string{
			"A link is on its way to " + in.Body.Email + ". It is valid for 15 minutes, and once.",
			"If no mail arrives, look into the folder with junk.",
		}})
	out.SetCookie = cookie

	return out, nil
}

// SignIn is the form of who signs in by a link.
type SignIn struct {
	session.Browser
	Body struct {
		Token   string `json:"token" minLength:"1" maxLength:"128" doc:"The token of the link." example:"kXJ3gq0w6m2Yd8Jr1vQ4bT7nL5cF9hZsAeUiOpWxRtE"`
		Next    string `json:"next,omitempty" maxLength:"128" doc:"The path of the page that follows." example:"/preferences/me"`
		Another string `json:"anotherBrowser,omitempty" enum:"yes" doc:"The user has confirmed to sign in here, although another browser has asked for the link."`
	} `contentType:"application/x-www-form-urlencoded"`
}

// SignInFunction signs in the browser whose form has the token of a link.
func SignInFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-sign-in",
		Does:   "Signs in the browser whose form has the token of a link, once.",
		IfDown: "Nobody can sign in on the pages.",
		On:     spec.Route{Method: "POST", Path: "/sign-in", Auth: spec.Browser},
		Uses:   []spec.Access{tables.TakeLink, tables.CreateLogin, account.CheckDeleted},
		Users:  []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenPages, (*Pages).SignIn, ErrLink, errBrowser, account.ErrDeleted, userpool.ErrUnverified)
}

// SignIn is Service.Complete for a form. In another browser than the one that has asked for the link it
// names the address, and asks again.
func (s *Pages) SignIn(ctx context.Context, in *SignIn) (*web.Form, error) {
	by := &Complete{Browser: in.Browser}
	by.Body.Token, by.Body.Another = in.Body.Token, in.Body.Another != ""
	next := pathOf(in.Body.Next)

	done, err := s.Complete(ctx, by)
	if errors.Is(err, errBrowser) {
		return s.confirm(ctx, in.Body.Token, next)
	}

	if err != nil {
		return nil, err
	}

	data := map[string]any{
		"Lines": []string{"You are signed in as " + done.Body.Email + "."},
		"To":    s.Links.To() + cmp.Or(next, "/home"), "ToText": "Continue",
	}

	out := s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "You are signed in", About: "To 3FC."}, data)
	out.SetCookie = done.SetCookie

	return out, nil
}

// confirm asks the user of another browser than the one that has asked for a link.
func (s *Pages) confirm(ctx context.Context, token, next string) (*web.Form, error) {
	id, _, _ := strings.Cut(token, ".")

	row, err := item.Read[link](ctx, s.DB, tables.TakeLink, item.LinkKey(id), item.Metadata, ErrLink)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "sign-in", http.StatusConflict,
		web.Head{Title: "Sign in to 3FC", About: "Another browser has asked for this link."},
		map[string]any{"Token": token, "Next": next, "Another": row.V().Email}), nil
}
