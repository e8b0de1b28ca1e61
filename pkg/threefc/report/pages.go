package report

import (
	"context"
	_ "embed" // the templates
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Pages shows the page of reports of a league.
type Pages struct {
	Service
	templates *template.Template
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := Open(ctx, env)
	return &Pages{*s, web.Parse(markup)}, err
}

// visitor is who opens the page.
type visitor struct {
	league item.Row[item.League]
	userID string    // "" for who is not signed in
	role   item.Role // "" for who is no member
}

// visit reads the league of a page for its visitor. A league for members does not exist for anybody else. Errors:
// web.ErrNotFound.
func (s *Pages) visit(ctx context.Context, by session.Browser, name string) (v visitor, err error) {
	if v.league, err = s.find(ctx, name); err != nil {
		return v, err
	}

	if v.userID, err = s.Who(ctx, by); err != nil {
		return v, err
	}

	if v.userID != "" {
		v.role, err = item.Check(ctx, s.DB, v.league.V().ID, v.userID, item.Viewer)
		if errors.Is(err, item.ErrAccess) {
			err = nil
		}
	}

	if err == nil && v.role == "" && v.league.V().ForMembers() {
		err = web.ErrNotFound
	}

	return v, err
}

// ShowReport is the request for the page of reports of a league.
type ShowReport struct {
	session.Browser
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
	Page   string `query:"page" maxLength:"200" doc:"The path of the page that is reported." example:"/l/parkside"`
}

// ShowReportFunction asks what is wrong with a page of a league.
func ShowReportFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-report-page",
		Does:   "Asks in a browser what is wrong with a page of a league, or whose name to remove; administrators decide on these requests here.",
		IfDown: "Nobody can report a page, or ask to remove a name.",
		On:     spec.Route{Method: "GET", Path: "/report/{league}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.FindSlug, tables.GetLeague, tables.GetGrant, tables.ListRemovals,
			tables.ReadPlayers},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowReport, web.ErrNotFound)
}

// ShowReport shows a form to report a page, and one to ask for the removal of a name. An administrator who is signed
// in also sees the requests that are open. Errors: web.ErrNotFound.
func (s *Pages) ShowReport(ctx context.Context, in *ShowReport) (*web.Form, error) {
	v, err := s.visit(ctx, in.Browser, in.League)
	if err != nil {
		return nil, err
	}

	return s.page(ctx, v, Form{Page: in.Page}, "")
}

// request is a request to remove a name, for administrators.
type request struct{ PlayerID, Name, Day, Reason string }

// page shows the forms with what was sent before, and what is wrong with it, "" for nothing.
func (s *Pages) page(ctx context.Context, v visitor, sent Form, wrong string) (*web.Form, error) {
	data := map[string]any{"League": v.league.V().Name, "Sent": sent, "Wrong": wrong}

	if v.role == item.Admin {
		requests, err := s.requests(ctx, v.league.V().ID)
		if err != nil {
			return nil, err
		}

		data["Requests"] = requests
	}

	status := http.StatusOK
	if wrong != "" {
		status = http.StatusUnprocessableEntity
	}

	return s.Links.Form(s.templates, "report", status, web.Head{Title: "Report a page", About: "Or ask to remove a name."}, data), nil
}

// requests reads the requests of a league that are open, with the names as they are now.
func (s *Pages) requests(ctx context.Context, leagueID string) (all []request, err error) {
	open, err := s.open(ctx, leagueID)
	if err != nil {
		return nil, err
	}

	var ids []string
	for _, r := range open {
		ids = append(ids, r.PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.DB, tables.ReadPlayers, ids)

	for _, r := range open {
		all = append(all, request{r.PlayerID, players[r.PlayerID].Nickname, item.Parse(r.At).Format(web.Day), r.Reason})
	}

	return all, err
}

// Form is what the forms of the page have.
type Form struct {
	Action   string `json:"action" enum:"report,remove,accept,dismiss" doc:"Report a page; ask to remove a name; as an administrator, accept or dismiss such a request." example:"report"`
	Kind     string `json:"kind,omitempty" enum:"abuse,privacy,spam,other" doc:"What is wrong with the page." example:"abuse"`
	Text     string `json:"text,omitempty" maxLength:"500" doc:"What is wrong, or why the name is to be removed." example:"The name of a team is an insult."`
	Page     string `json:"page,omitempty" maxLength:"200" doc:"The path of the page." example:"/l/parkside"`
	Name     string `json:"name,omitempty" maxLength:"256" doc:"The name to remove, as the page shows it." example:"Foxy"`
	PlayerID string `json:"player,omitempty" maxLength:"26" doc:"The id of the player whose name is decided on." example:"01JX0000000000000000000001"`
}

// SubmitReport is a form of the page.
type SubmitReport struct {
	session.Browser
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
	Body   Form   `contentType:"application/x-www-form-urlencoded"`
}

// SubmitReportFunction stores a report or a request to remove a name, or decides on such a request.
func SubmitReportFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-report",
		Does:   "Stores a report of a page, or a request to remove a name, or decides on such a request, from a form.",
		IfDown: "Nobody can report a page, or ask to remove a name.",
		On:     spec.Route{Method: "POST", Path: "/report/{league}", Auth: spec.Browser},
		Uses: []spec.Access{tables.ResolveSession, tables.FindSlug, tables.GetLeague, tables.GetGrant, tables.ListRemovals,
			tables.ReadPlayers, tables.CountReports, tables.SaveReport, tables.SaveRemoval, tables.ListPlayers, tables.GetPlayer,
			tables.SavePlayer, tables.TakeOutbox, tables.ListSeasons, account.CheckDeleted},
		Sends:  []spec.Queue{game.AggregateQueue},
		Limits: []spec.Limit{MaxReports, MaxLeagueReports},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenPages, (*Pages).SubmitReport, item.ErrAdmin, web.ErrNotFound, account.ErrDeleted)
}

// SubmitReport does what the form asks for. Nobody needs an account to report, or to ask for the removal of a name;
// only an administrator of the league decides. A report that is sent again is stored again; anything else has no
// second effect. Errors: web.ErrNotFound, admin_required, too_many_reports, too_many_reports_of_league.
func (s *Pages) SubmitReport(ctx context.Context, in *SubmitReport) (*web.Form, error) {
	v, err := s.visit(ctx, in.Browser, in.League)
	if err != nil {
		return nil, err
	}

	id := v.league.V().ID

	switch in.Body.Action {
	case "report":
		if in.Body.Kind == "" || strings.TrimSpace(in.Body.Text) == "" {
			return s.page(ctx, v, in.Body, "Say what is wrong, please.")
		}

		if err := s.report(ctx, item.Report{LeagueID: id, Kind: in.Body.Kind, Text: in.Body.Text, Page: in.Body.Page}); err != nil {
			return nil, err
		}

		return s.done(v, "Thank you. Those who run 3FC look at it."), nil
	case "remove":
		known, err := s.ask(ctx, id, in.Body.Name, in.Body.Text)
		if err != nil {
			return nil, err
		}

		if !known {
			return s.page(ctx, v, in.Body, "The league shows no such name: type it as the page has it, please.")
		}

		return s.done(v, "The administrators of the league are asked to remove the name. If they do not answer within seven days, "+
			"those who run 3FC decide."), nil
	}

	if v.userID == "" {
		return signin.First(s.Links, s.templates, "Only administrators of the league decide.", ""), nil
	}

	if v.role != item.Admin {
		return nil, item.ErrAdmin
	}

	state := item.RemovalDismissed
	if in.Body.Action == "accept" {
		state = item.RemovalAccepted
	}

	if err := s.decide(account.Require(ctx, v.userID), id, in.Body.PlayerID, state, v.userID); err != nil {
		return nil, err
	}

	return s.page(ctx, v, Form{}, "")
}

// done shows what becomes of a form.
func (s *Pages) done(v visitor, text string) *web.Form {
	return s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "It is stored", About: text},
		map[string]any{"Lines": []string{text}, "To": s.Links.League(*v.league.V()), "ToText": "Back to the league"})
}
