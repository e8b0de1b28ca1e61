package public

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// MemberPages is the service of the pages and calendars that members of a league read: also of a private one. They
// have paths of their own, because caches keep the public ones: see web.Links.League.
type MemberPages struct {
	Pages
	signin.Base

	signer web.Signer
}

// OpenMembers opens the service.
func OpenMembers(ctx context.Context, env app.Env) (*MemberPages, error) {
	pages, err := OpenPages(ctx, env)
	if err != nil {
		return nil, err
	}

	pages.members = true
	signer, err := web.NewSigner(ctx, env)

	return &MemberPages{*pages, signin.NewBase(env), signer}, err
}

// ShowMembers is the request of a member for a page of a league: of a game, of a season, or of the league.
type ShowMembers struct {
	session.Browser
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
	Season string `query:"season" maxLength:"40" doc:"The slug or the id of a season: without it the page of the league." example:"spring-2026"`
	Game   string `query:"game" maxLength:"40" doc:"The slug or the id of a game of the season: without it the page of the season." example:"2026-06-06-1-7q2m"`
	Cursor string `query:"cursor" maxLength:"47" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z_[0-9A-Z]{26}$" example:"2026-06-06T18:00:00Z_01JX3Y5ZK8Q2M4N6P8R0T2V4W6" doc:"The game after the results of a season, as the link to earlier games has it."`
}

// ShowMembersFunction shows a league to its members.
func ShowMembersFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-member-page",
		Does:   "Shows a league, a season or a game in a browser to the members of the league, who are signed in.",
		IfDown: "Private leagues have no pages.",
		On:     spec.Route{Method: "GET", Path: "/members/{league}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.GetGrant, tables.FindSlug, tables.GetLeague, tables.ListSeasons, tables.ListSessions,
			tables.GetSeason, tables.ReadTables, tables.ReadDays, tables.GetGame, tables.ListGoals, tables.ReadNames, tables.ListRemovals},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenMembers, (*MemberPages).ShowMembers, ErrNotFound)
}

// ShowMembers shows what ShowLeague, ShowSeason or ShowGame shows, with the names of all players and an address of the
// caller's own for calendars, and to an administrator how many names are to be removed. Whoever is not signed in is
// asked to sign in, whether there is such a league or not; for who is no member there is none. Errors: ErrNotFound.
func (s *MemberPages) ShowMembers(ctx context.Context, in *ShowMembers) (*web.Form, error) {
	userID, err := s.Who(ctx, in.Browser)
	if err != nil {
		return nil, err
	}

	if userID == "" {
		here := strings.TrimPrefix(s.links.Members(item.League{Slug: in.League}, in.Season, in.Game), s.links.To())
		return signin.First(s.links, s.templates, "This page is for members of the league.", here), nil
	}

	l, err := s.league(ctx, in.League)
	if err != nil {
		return nil, err
	}

	member, ok, err := dynamo.Get[item.Row[item.Grant]](ctx, s.DB, tables.GetGrant, item.LeagueKey(l.ID), item.GrantKey(userID))
	if err == nil && !ok {
		err = ErrNotFound
	}

	if err != nil {
		return nil, err
	}

	pages := s.pagesOf(member)
	if pages.removals, err = s.asked(ctx, member); err != nil {
		return nil, err
	}

	page, err := pages.show(ctx, in)
	if err != nil {
		return nil, err
	}

	return &web.Form{
		Status: http.StatusOK, Cache: web.Private, Robots: web.NoIndex, Referrer: "same-origin", Policy: page.Policy, Body: page.Body,
	}, nil
}

// asked returns how many names a member, who is an administrator, is asked to remove: see report.SubmitReport.
func (s *MemberPages) asked(ctx context.Context, member item.Row[item.Grant]) (n int, err error) {
	if member.V().Role != item.Admin {
		return 0, nil
	}

	rows, err := list[item.Removal](ctx, s.db, tables.ListRemovals, member.PK, item.Removals)

	for _, r := range item.Values(rows) {
		if r.State == item.RemovalOpen {
			n++
		}
	}

	return n, err
}

// pagesOf returns the pages of a member, whose calendars have addresses of the member's own.
func (s *MemberPages) pagesOf(member item.Row[item.Grant]) *Pages {
	pages := s.Pages
	pages.calendars = func(_ item.League, x item.Season) string {
		g := member.V()
		ticket := s.signer.Sign(toCalendar, s.now().Add(keepCalendar), g.UserID, g.LeagueID, x.ID, member.CreatedAt)

		return s.links.To("calendars", ticket, "games.ics")
	}

	return &pages
}

// show returns the page for which a member asks.
func (s *Pages) show(ctx context.Context, in *ShowMembers) (*web.Page, error) {
	of := SeasonPath{League: in.League, Season: in.Season}

	switch {
	case in.Season == "":
		return s.ShowLeague(ctx, &ShowLeague{League: in.League})
	case in.Game == "":
		return s.ShowSeason(ctx, &ShowSeason{SeasonPath: of, Cursor: in.Cursor})
	}

	return s.ShowGame(ctx, &ShowGame{Path{SeasonPath: of, Game: in.Game}})
}

// toCalendar is the purpose of a ticket to a calendar, and keepCalendar how long it is valid: longer than a season.
const (
	toCalendar   = "read a calendar"
	keepCalendar = 400 * 24 * time.Hour
)

// ShowMemberCalendar is the request of a phone for the calendar of a season.
type ShowMemberCalendar struct {
	session.Browser
	Ticket string `path:"ticket" maxLength:"512" doc:"The ticket of a member, as the page for members has it, or me for a caller who is signed in." example:"me"`
	Season string `query:"season" maxLength:"26" doc:"The id of the season, with me for the ticket." example:"01JX0000000000000000000011"`
}

// MemberCalendar is the answer with a calendar that no cache keeps.
type MemberCalendar struct {
	Cache  string `header:"Cache-Control"`
	Robots string `header:"X-Robots-Tag"`
	Body   []byte `contentType:"text/calendar; charset=utf-8"`
}

// ShowMemberCalendarFunction returns the games of a season to a member's phone.
func ShowMemberCalendarFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-member-calendar",
		Does:   "Returns the games of a season to the phone of a member, who has a signed link.",
		IfDown: "Calendars of members do not follow the games.",
		On:     spec.Route{Method: "GET", Path: "/calendars/{ticket}/games.ics", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.GetGrant, tables.FindSlug, tables.GetLeague, tables.GetSeason,
			tables.ReadCalendar},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenMembers, (*MemberPages).ShowMemberCalendar, web.ErrTicket)
}

// ShowMemberCalendar returns the calendar of ShowCalendar, as long as the member to whom the ticket was given is
// one: a membership that begins anew needs another ticket. Errors: web.ErrTicket, also for what does not exist
// any more.
func (s *MemberPages) ShowMemberCalendar(ctx context.Context, in *ShowMemberCalendar) (*MemberCalendar, error) {
	leagueID, seasonID, err := s.member(ctx, in)
	if err != nil {
		return nil, err
	}

	l, x, err := s.season(ctx, leagueID, seasonID)
	if errors.Is(err, ErrNotFound) {
		err = web.ErrTicket
	}

	if err != nil {
		return nil, err
	}

	text, err := s.calendar(ctx, l, x)

	return &MemberCalendar{web.Private, web.NoIndex, text}, err
}

// signedIn is the ticket of a member who is signed in.
const signedIn = "me"

// member returns the ids of a season and of its league, of which the bearer of a ticket is a member.
func (s *MemberPages) member(ctx context.Context, in *ShowMemberCalendar) (leagueID, seasonID string, err error) {
	var userID, since string // since when the user is a member, "" for any time

	if in.Ticket == signedIn {
		x, err := item.Read[item.Season](ctx, s.DB, tables.GetSeason, item.SeasonKey(in.Season), item.Metadata, web.ErrTicket)
		if err != nil {
			return "", "", err
		}

		leagueID, seasonID = x.V().LeagueID, x.V().ID

		if userID, err = s.Who(ctx, in.Browser); err != nil {
			return "", "", err
		}
	} else {
		ids, err := s.signer.Read(toCalendar, in.Ticket, 4)
		if err != nil {
			return "", "", err
		}

		userID, leagueID, seasonID, since = ids[0], ids[1], ids[2], ids[3]
	}

	row, err := item.Read[item.Grant](ctx, s.DB, tables.GetGrant, item.LeagueKey(leagueID), item.GrantKey(userID), web.ErrTicket)
	if err == nil && since != "" && row.CreatedAt != since {
		err = web.ErrTicket
	}

	return leagueID, seasonID, err
}

// mostLeaders is how many players the tables of a season have at most.
const mostLeaders = 100

// GetTables is the request for the tables of a season.
type GetTables struct {
	auth.User
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// Tables is the answer with the tables of a season.
type Tables struct {
	_ struct{} `schema:"SeasonTables"`

	Body struct {
		Teams   []standing.TeamStanding `json:"teams" doc:"In their order, by the rules of the season: by default more wins, then more draws, then fewer conceded, then more scored."`
		Players []standing.PlayerTotals `json:"players" doc:"Most goals first, then most assists, then fewest games: at most 100."`
	}
}

// GetTablesFunction returns the tables of a season to the members of the league.
func GetTablesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-season-tables",
		Does:   "Returns the standings and the scorers of a season to members of the league.",
		IfDown: "The app shows no tables of private leagues.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}/tables", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason, tables.ReadTables),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenTables, (*MemberTables).GetTables, item.ErrAccess, item.ErrScope)
}

// MemberTables is the service of the tables that members read.
type MemberTables struct {
	signin.Base
	public Service
}

// OpenTables opens the service.
func OpenTables(ctx context.Context, env app.Env) (*MemberTables, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	s.members = true

	return &MemberTables{signin.NewBase(env), *s}, nil
}

// GetTables returns what GetStandings and GetLeaders return, also of a private league, with the names of all
// players.
func (s *MemberTables) GetTables(ctx context.Context, in *GetTables) (*Tables, error) {
	if _, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Viewer); err != nil {
		return nil, err
	}

	out := &Tables{}

	var err error
	if out.Body.Teams, err = s.public.standings(ctx, in.SeasonID); err != nil {
		return nil, err
	}

	out.Body.Players, err = s.public.leaders(ctx, in.SeasonID, mostLeaders)

	return out, err
}
