// Package organise has the pages on which members run a league with a browser alone: from the first sign-in to
// the final table, without scripts.
//
// A page is about a league, a season, a session or a game, and is below its league: an id of another league is
// not found there. It shows each member what the API answers to the member, and offers the actions of the
// member's role. Every rule is that of the operation which an action calls: this package has none of its own.
//
// An action has a form of its own, to which the page links, or which is a part of the page. So an action that
// destroys something asks first. A form that is refused is shown again with what was typed, and with what is
// wrong at its field. A form that is carried out answers 303: going back or loading again repeats nothing. A
// form has a key, and so has the same effect once, however often it is sent.
package organise

import (
	"context"
	_ "embed" // the templates
	"html/template"
	"net/http"
	"net/url"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/plan"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/score"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

var (
	//go:embed pages.html
	markup string
	//go:embed organise.css
	style string
)

// Errors of pages.
var (
	errAction = problem.New(problem.Unprocessable, "unknown_action", "this page has no such form: open it again").In("body.action")
	errKey    = problem.New(problem.Unprocessable, "form_without_key", "this form is incomplete: open the page again").In("body.key")
)

// Pages shows the pages.
type Pages struct {
	signin.Base
	templates *template.Template

	account signin.Service
	leagues league.Service
	seasons season.Mover
	plans   plan.Service
	games   game.Service
	players player.Service
	pins    score.Service
	notices notice.Service
	inviter *league.Inviter // nil but for the form that invites
}

// Open opens the service.
func Open(ctx context.Context, env app.Env) (*Pages, error) {
	s := &Pages{Base: signin.NewBase(env), templates: web.Parse(markup)}
	s.leagues, s.plans, s.pins, s.notices = league.Service{Base: s.Base}, plan.Service{Base: s.Base},
		score.Service{Base: s.Base}, notice.Service{Base: s.Base}

	accounts, err := signin.Open(ctx, env)
	if err != nil {
		return nil, err
	}

	games, err := game.Open(ctx, env)
	if err != nil {
		return nil, err
	}

	players, err := player.Open(ctx, env)
	if err != nil {
		return nil, err
	}

	seasons, err := season.OpenMover(ctx, env)
	if err != nil {
		return nil, err
	}

	s.account, s.games, s.players, s.seasons = *accounts, *games, *players, *seasons

	return s, nil
}

// OpenInviting is Open for the form that mails invitations.
func OpenInviting(ctx context.Context, env app.Env) (s *Pages, err error) {
	if s, err = Open(ctx, env); err == nil {
		s.inviter, err = league.OpenInviter(ctx, env)
	}

	return s, err
}

// Kinds of pages, as they are in addresses.
const (
	home      = ""
	ofLeague  = "league"
	ofSeason  = "seasons"
	ofSession = "sessions"
	ofGame    = "games"
)

// place is what a page is about.
type place struct{ kind, league, id string }

// path returns the path of the page.
func (p place) path() string {
	switch p.kind {
	case home:
		return "/home"
	case ofLeague:
		return "/manage/" + p.league
	}

	return "/manage/" + p.league + "/" + p.kind + "/" + p.id
}

// visit is a page with its visitor, as they were read.
type visit struct {
	place
	by            session.Browser
	userID, email string
	role          item.Role
	of            item.Row[item.League]
	season        item.Row[item.Season] // of a season, a session or a game
	session       item.Row[item.Session]
	game          item.Row[item.Game]
}

func (v *visit) user() auth.User { return auth.User{UserID: v.userID} }

// zone is where the season is played.
func (v *visit) zone() *time.Location {
	zone, err := httpapi.TimeZone(v.season.V().TimeZone)
	if err != nil { // a zone that the database has no more
		return time.UTC
	}

	return zone
}

// read reads what the page is about. Strangers find nothing, and nobody finds something of another league.
// Errors: web.ErrNotFound.
func (s *Pages) read(ctx context.Context, v *visit) error {
	err := s.readAll(ctx, v)
	if kind := problem.Of(err); kind == problem.Denied || kind == problem.NotFound {
		return web.ErrNotFound
	}

	return err
}

func (s *Pages) readAll(ctx context.Context, v *visit) (err error) {
	if v.kind == home {
		return nil
	}

	if v.of, v.role, err = item.LeagueRow.ReadAs(ctx, s.DB, v.league, v.userID, item.Viewer); err != nil || v.kind == ofLeague {
		return err
	}

	seasonID, sessionID := v.id, v.id

	switch v.kind {
	case ofGame:
		if v.game, err = item.GameRow.Read(ctx, s.DB, v.id); err != nil {
			return err
		}

		sessionID = v.game.V().SessionID

		fallthrough
	case ofSession:
		if v.session, err = item.SessionRow.Read(ctx, s.DB, sessionID); err != nil {
			return err
		}

		seasonID = v.session.V().SeasonID

		fallthrough
	case ofSeason:
		if v.season, err = item.SeasonRow.Read(ctx, s.DB, seasonID); err == nil && v.season.V().LeagueID != v.league {
			err = web.ErrNotFound
		}

		return err
	}

	return web.ErrNotFound
}

// Asked is part of a request: which part of a page is shown.
type Asked struct {
	Ask  string `query:"ask" maxLength:"24" doc:"The action whose form is shown." example:"create-season"`
	ID   string `query:"id" maxLength:"36" doc:"What the action is about, such as the id of a player."`
	Done string `query:"done" maxLength:"24" doc:"The action that was carried out." example:"create-season"`
	Code string `query:"code" maxLength:"32" doc:"The code to join the game, which was made." example:"7Q2MZ0KD"`
}

// Sent is a form: the action, the key, and the fields of the action by their names.
type Sent map[string]string

// ShowHome is the request for the page of who is signed in.
type ShowHome struct {
	session.Browser
	Asked
}

// ShowHomeFunction shows the caller's leagues.
func ShowHomeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-home-page",
		Does:   "Shows the caller's leagues in a browser, with the next session of each.",
		IfDown: "Organisers do not find their leagues in a browser.",
		On:     spec.Route{Method: "GET", Path: "/home", Auth: spec.Browser, OthersCall: true},
		Uses:   showsHome().uses(),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Pages).ShowHome, errAction, session.ErrInvalid, web.ErrNotFound)
}

// ShowHome shows the leagues of who is signed in, and asks anybody else to sign in.
func (s *Pages) ShowHome(ctx context.Context, in *ShowHome) (*web.Reply, error) {
	return s.show(ctx, &visit{place: place{kind: home}, by: in.Browser}, in.Asked)
}

// SubmitHome is a form of the page of who is signed in.
type SubmitHome struct {
	session.Browser
	Body Sent `doc:"The action, the key of the form, and the fields of the action." example:"{\"action\":\"create-league\",\"key\":\"kXJ3gq0w6m2Yd8Jr1vQ4\",\"name\":\"Parkside\"}" contentType:"application/x-www-form-urlencoded"`
}

// SubmitHomeFunction carries out a form of the page of who is signed in.
func SubmitHomeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-home",
		Does:   "Creates a league, restores one, or signs out, in a browser.",
		IfDown: "No league can be created in a browser.",
		On:     spec.Route{Method: "POST", Path: "/home", Auth: spec.Browser, OthersCall: true, Answers: []int{http.StatusSeeOther}},
		Uses:   changesHome().uses(tables.MyLeagues),
		Limits: changesHome().limits(),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Pages).SubmitHome, errAction, errKey, account.ErrDeleted, item.ErrAccess, web.ErrNotFound)
}

// SubmitHome carries out a form. Errors: unknown_action.
func (s *Pages) SubmitHome(ctx context.Context, in *SubmitHome) (*web.Reply, error) {
	return s.submit(ctx, &visit{place: place{kind: home}, by: in.Browser}, in.Body)
}

// ShowLeague is the request for the page of a league.
type ShowLeague struct {
	session.Browser
	Asked
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// ShowLeagueFunction shows a league to its members.
func ShowLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-manage-page",
		Does:   "Shows a league to its members in a browser, with the forms by which they run it.",
		IfDown: "Organisers cannot run a league in a browser.",
		On:     spec.Route{Method: "GET", Path: "/manage/{leagueId}", Auth: spec.Browser, OthersCall: true},
		Uses:   showsLeague().uses(signin.GetFunction().Uses...),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Pages).ShowLeague, errAction, item.ErrAdmin, item.ErrNoPlayer, item.ErrScorekeeper, session.ErrInvalid,
		web.ErrNotFound)
}

// ShowLeague shows a league with its seasons and players, to administrators also with its members. Errors:
// web.ErrNotFound.
func (s *Pages) ShowLeague(ctx context.Context, in *ShowLeague) (*web.Reply, error) {
	return s.show(ctx, &visit{place: place{ofLeague, in.LeagueID, ""}, by: in.Browser}, in.Asked)
}

// SubmitLeague is a form of the page of a league.
type SubmitLeague struct {
	session.Browser
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Body     Sent   `doc:"The action, the key of the form, and the fields of the action." example:"{\"action\":\"add-player\",\"key\":\"kXJ3gq0w6m2Yd8Jr1vQ4\",\"nickname\":\"Foxy\"}" contentType:"application/x-www-form-urlencoded"`
}

// SubmitLeagueFunction carries out a form of the page of a league.
func SubmitLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-manage",
		Does:   "Changes a league, its members, its players, or creates a season, in a browser.",
		IfDown: "Organisers cannot change a league, its members and its players in a browser.",
		On: spec.Route{
			Method: "POST", Path: "/manage/{leagueId}", Auth: spec.Browser, OthersCall: true, Answers: []int{http.StatusSeeOther},
		},
		Uses:   changesLeague().uses(showsLeague().uses()...),
		Sends:  changesLeague().sends(),
		Limits: changesLeague().limits(),
		Mail:   []spec.MailSender{signin.Mails},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenInviting, (*Pages).SubmitLeague, errAction, errKey, account.ErrDeleted, item.ErrAccess, item.ErrAdmin, item.ErrNoPlayer,
		item.ErrScope, item.ErrScorekeeper, web.ErrNotFound)
}

// SubmitLeague carries out a form. Errors: web.ErrNotFound, unknown_action.
func (s *Pages) SubmitLeague(ctx context.Context, in *SubmitLeague) (*web.Reply, error) {
	return s.submit(ctx, &visit{place: place{ofLeague, in.LeagueID, ""}, by: in.Browser}, in.Body)
}

// Part is part of a request: what of a league the page is about.
type Part struct {
	session.Browser
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Kind     string `path:"kind" maxLength:"8" doc:"What the page is about: seasons, sessions or games." example:"seasons"`
	PartID   string `path:"partId" maxLength:"26" doc:"The id of the season, the session or the game."`
}

// visit returns a visit of the page. Errors: web.ErrNotFound.
func (p Part) visit() (*visit, error) {
	if p.Kind != ofSeason && p.Kind != ofSession && p.Kind != ofGame {
		return nil, web.ErrNotFound
	}

	return &visit{place: place{p.Kind, p.LeagueID, p.PartID}, by: p.Browser}, nil
}

// ShowPart is the request for the page of a season, a session or a game.
type ShowPart struct {
	Part
	Asked
}

// ShowPartFunction shows a season, a session or a game to the members of its league.
func ShowPartFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-manage-part",
		Does:   "Shows a season, a session or a game to the members of its league in a browser, with the forms by which they run it.",
		IfDown: "Organisers cannot run a season in a browser.",
		On:     spec.Route{Method: "GET", Path: "/manage/{leagueId}/{kind}/{partId}", Auth: spec.Browser, OthersCall: true},
		Uses:   showsPart().uses(append(signin.GetFunction().Uses, tables.FindCode, tables.GetSeason, tables.GetSession)...),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Pages).ShowPart, errAction, item.ErrAdmin, item.ErrNoPlayer, item.ErrScorekeeper, session.ErrInvalid, web.ErrNotFound)
}

// ShowPart shows a season with its teams and sessions, a session with its games, or a game. Errors:
// web.ErrNotFound.
func (s *Pages) ShowPart(ctx context.Context, in *ShowPart) (*web.Reply, error) {
	v, err := in.visit()
	if err != nil {
		return nil, err
	}

	return s.show(ctx, v, in.Asked)
}

// SubmitPart is a form of the page of a season, a session or a game.
type SubmitPart struct {
	Part
	Body Sent `doc:"The action, the key of the form, and the fields of the action." example:"{\"action\":\"create-session\",\"key\":\"kXJ3gq0w6m2Yd8Jr1vQ4\",\"sessionDate\":\"2026-06-13\"}" contentType:"application/x-www-form-urlencoded"`
}

// SubmitPartFunction carries out a form of the page of a season, a session or a game.
func SubmitPartFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-manage-part",
		Does:   "Changes a season, a session or a game, in a browser.",
		IfDown: "Organisers cannot plan a season in a browser.",
		On: spec.Route{
			Method: "POST", Path: "/manage/{leagueId}/{kind}/{partId}", Auth: spec.Browser, OthersCall: true,
			Answers: []int{http.StatusOK, http.StatusSeeOther},
		},
		Uses:   changesPart().uses(showsPart().uses()...),
		Sends:  changesPart().sends(),
		Limits: changesPart().limits(),
		Memory: 256, Timeout: 25 * time.Second,
	}, Open, (*Pages).SubmitPart, errAction, errKey, account.ErrDeleted, item.ErrAccess, item.ErrAdmin, item.ErrNoPlayer, item.ErrScope,
		item.ErrScorekeeper, web.ErrNotFound)
}

// SubmitPart carries out a form. Errors: web.ErrNotFound, unknown_action.
func (s *Pages) SubmitPart(ctx context.Context, in *SubmitPart) (*web.Reply, error) {
	v, err := in.visit()
	if err != nil {
		return nil, err
	}

	return s.submit(ctx, v, in.Body)
}

// signInFirst asks a visitor to sign in. It says nothing of what the page is about.
func (s *Pages) signInFirst(v *visit) *web.Reply {
	const why = "Sign in to run your leagues."

	return s.Links.Reply(s.templates, "text", http.StatusOK, web.Head{Title: "Sign in first", About: why}, nil,
		map[string]any{"Lines": []string{why}, "To": signin.To(s.Links, v.path()), "ToText": "Sign in by mail"})
}

// show shows a page, or the form of an action.
func (s *Pages) show(ctx context.Context, v *visit, asked Asked) (_ *web.Reply, err error) {
	if v.userID, err = s.Who(ctx, v.by); err != nil {
		return nil, err
	}

	if v.userID == "" {
		return s.signInFirst(v), nil
	}

	who, err := s.account.Get(ctx, &signin.Get{Browser: v.by}) // which lets the session last longer
	if err != nil {
		return nil, err
	}

	v.email = who.Body.Email
	if err := s.read(ctx, v); err != nil {
		return nil, err
	}

	if asked.Ask != "" {
		a, err := v.action(asked.Ask)
		if err != nil {
			return nil, err
		}

		f, err := s.form(ctx, v, a, asked.ID)
		if err != nil {
			return nil, err
		}

		return s.ask(v, http.StatusOK, f), nil
	}

	return s.overview(ctx, v, asked)
}

// overview shows the page itself.
func (s *Pages) overview(ctx context.Context, v *visit, asked Asked) (*web.Reply, error) {
	data := map[string]any{"Crumbs": v.crumbs(s.Links), "Done": v.done(asked.Done)}

	var (
		name, title string
		colors      []string
		err         error
	)

	switch v.kind {
	case home:
		name, title = "home", "Your leagues"
		err = s.showHome(ctx, v, data)
	case ofLeague:
		name, title = "league", v.of.V().Name
		err = s.showLeague(ctx, v, data)
	case ofSeason:
		name, title = "season", v.season.V().Name
		colors, err = s.showSeason(ctx, v, data)
	case ofSession:
		name, title = "session", "Session on "+web.DayOf(v.session.V().Date)
		colors, err = s.showSession(ctx, v, data)
	default:
		name, title = "game", "Game at "+v.clock(v.game.V().StartTs)
		colors, err = s.showGame(ctx, v, asked.Code, data)
	}

	if err != nil {
		return nil, err
	}

	if v.kind != home {
		data["Lesser"], data["Seen"] = lesser[v.role], "everybody sees"
		if v.of.V().ForMembers() {
			data["Seen"] = "members see"
		}
	}

	head := web.Head{Title: title, About: "Run a league of 3FC.", Style: style}

	return s.Links.Reply(s.templates, name, http.StatusOK, head, colors, data), nil
}

// lesser says what members with a lesser role may do.
var lesser = map[item.Role]string{
	item.Viewer:      "You are a viewer of this league: you see this page, and change nothing. Ask an administrator for more.",
	item.Scorekeeper: "You are a scorekeeper of this league: you look after sessions, games and players. The rest is for administrators.",
}

// crumb is a page above.
type crumb struct{ URL, Text string }

// crumbs returns the pages above the page.
func (v *visit) crumbs(l web.Links) (all []crumb) {
	if v.kind == home {
		return nil
	}

	all = []crumb{{l.To("home"), "Your leagues"}}

	add := func(kind, id, text string) {
		if v.kind != kind {
			all = append(all, crumb{v.at(l, kind, id), text})
		}
	}

	add(ofLeague, "", v.of.V().Name)

	if v.season.PK != "" {
		add(ofSeason, v.season.V().ID, v.season.V().Name)
	}

	if v.session.PK != "" {
		add(ofSession, v.session.V().ID, web.DayOf(v.session.V().Date))
	}

	return all
}

// at returns the address of another page of the league.
func (v *visit) at(l web.Links, kind, id string) string {
	return l.To() + place{kind, v.league, id}.path()
}

// url returns the address of the page, with the name of an action that was carried out, "" for none.
func (v *visit) url(l web.Links, done string) string { return withDone(l.To()+v.path(), done) }

func withDone(to, done string) string {
	if done == "" {
		return to
	}

	return to + "?" + url.Values{"done": {done}}.Encode()
}

// clock returns the time of day of a start, where the season is played.
func (v *visit) clock(start string) string { return item.Parse(start).In(v.zone()).Format("15:04") }
