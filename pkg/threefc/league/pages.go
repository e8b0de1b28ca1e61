package league

import (
	"context"
	_ "embed" // the templates
	"html/template"
	"net/http"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Pages shows the pages of invitations.
type Pages struct {
	Service
	templates *template.Template
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := Open(ctx, env)
	return &Pages{*s, web.Parse(markup)}, err
}

// signInFirst asks a visitor of an invitation to sign in. It says nothing of the league.
func (s *Pages) signInFirst(leagueID string) *web.Form {
	return signin.First(s.Links, s.templates, "You are invited to a league. Sign in with the address to which the mail went.",
		"/invitations/"+leagueID)
}

// ShowInvitation is the request for the page of an invitation.
type ShowInvitation struct {
	session.Browser
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// ShowInvitationFunction asks the caller to accept an invitation.
func ShowInvitationFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-invitation-page",
		Does:   "Asks who is invited to a league, in a browser, whether to accept.",
		IfDown: "Nobody can accept an invitation to a league.",
		On:     spec.Route{Method: "GET", Path: "/invitations/{leagueId}", Auth: spec.Browser, OthersCall: true},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetLeague, tables.GetGrant, tables.FindInvitation},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowInvitation, errNoInvitation)
}

// ShowInvitation shows the invitation of the address with which the caller is signed in. Errors:
// invitation_not_found.
func (s *Pages) ShowInvitation(ctx context.Context, in *ShowInvitation) (*web.Form, error) {
	userID, err := s.Who(ctx, in.Browser)
	if err != nil {
		return nil, err
	}

	if userID == "" {
		return s.signInFirst(in.LeagueID), nil
	}

	email, err := s.Email(ctx, in.Token(signin.Cookie))
	if err != nil {
		return nil, err
	}

	row, ok, err := dynamo.Get[item.Row[invitation]](ctx, s.DB, tables.FindInvitation, item.LeagueKey(in.LeagueID), keyOf(email))
	if err != nil {
		return nil, err
	}

	if !ok || row.TTL <= s.Now().Unix() {
		role, err := s.accepted(ctx, &Accept{User: auth.User{UserID: userID}, LeagueID: in.LeagueID})
		if err != nil {
			return nil, err
		}

		return s.done(ctx, in.LeagueID, role.Body.Role)
	}

	l, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(in.LeagueID), item.Metadata, errNoInvitation)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "invitation", http.StatusOK,
		web.Head{Title: "You are invited", About: "To a league of 3FC."},
		map[string]any{"League": l.V().Name, "Role": row.V().Role}), nil
}

// done shows that the caller is a member of a league.
func (s *Pages) done(ctx context.Context, leagueID string, role item.Role) (*web.Form, error) {
	l, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(leagueID), item.Metadata, errNoInvitation)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "You are a member", About: "Of a league of 3FC."},
		map[string]any{
			"Lines": []string{"You are " + string(role) + " of " + Named(l.V().Name) + "."},
			"To":    s.Links.To("manage", leagueID), "ToText": "Open the league",
		}), nil
}

// SubmitInvitation is the form that accepts an invitation.
type SubmitInvitation struct {
	session.Browser
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// SubmitInvitationFunction makes the caller a member of a league.
func SubmitInvitationFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-invitation",
		Does:   "Makes the caller, whose address is invited, a member of a league, in a browser.",
		IfDown: "Nobody can accept an invitation to a league.",
		On:     spec.Route{Method: "POST", Path: "/invitations/{leagueId}", Auth: spec.Browser},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant, tables.TakeInvitation), Limits: []spec.Limit{MaxMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).SubmitInvitation, errLastAdmin, errNoInvitation, session.ErrInvalid)
}

// SubmitInvitation is Service.Accept for a form.
func (s *Pages) SubmitInvitation(ctx context.Context, in *SubmitInvitation) (*web.Form, error) {
	userID, err := s.Who(ctx, in.Browser)
	if err != nil {
		return nil, err
	}

	if userID == "" {
		return s.signInFirst(in.LeagueID), nil
	}

	out, err := s.Accept(account.Require(ctx, userID), &Accept{User: auth.User{UserID: userID}, Browser: in.Browser, LeagueID: in.LeagueID})
	if err != nil {
		return nil, err
	}

	return s.done(ctx, in.LeagueID, out.Body.Role)
}
