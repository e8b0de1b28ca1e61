// Package public serves what everybody may read of a league: scores, timelines and tables, with
// nicknames and without any other name. No route needs a sign-in, and caches may keep the answers
// for some seconds.
//
// Apps get JSON. People get pages: ShowLeague, ShowSeason and ShowGame, with ShowCalendar for their
// calendars. The page of a season has the latest 40 results, with a link to
// earlier ones, and the next 20 games: its reads do not grow with the season. A page has one
// address, by slugs; an id leads to the same page with a link to that address.
package public

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// ErrNotFound reports that a link leads nowhere.
var ErrNotFound = web.ErrNotFound

// Service is the service of public pages.
type Service struct {
	db    dynamo.DB
	now   func() time.Time
	links web.Links
	// members is set for pages that only members of the league get: see MemberPages.
	members bool
}

// Open opens the service. Its reads may be a second old.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{db: dynamo.Open(env.AWS, env.Prefix).Eventual(), now: env.Now, links: web.NewLinks(env)}, nil
}

// list reads rows like item.List, and as they were up to a second ago.
func list[T any](ctx context.Context, db dynamo.DB, a spec.Access, pk, prefix string) ([]item.Row[T], error) {
	return dynamo.QueryAll[item.Row[T]](ctx, db, a, dynamo.Range{Key: dynamo.KeyBeginsWith(a, pk, prefix)})
}

// find returns the id to which a slug leads, or the id itself.
func (s *Service) find(ctx context.Context, pk, sk, slug string) (string, error) {
	if item.IsID(slug) {
		return slug, nil
	}

	if pk == "" {
		pk, sk = item.SlugKey(slug), item.Metadata
	}

	r, err := item.Read[item.Ref](ctx, s.db, tables.FindSlug, pk, sk, ErrNotFound)

	return r.V().ID, err
}

// league reads a league by its slug or id. A league for members does not exist for anybody else.
func (s *Service) league(ctx context.Context, slug string) (item.League, error) {
	id, err := s.find(ctx, "", "", slug)
	if err != nil {
		return item.League{}, err
	}

	r, err := item.Read[item.League](ctx, s.db, tables.GetLeague, item.LeagueKey(id), item.Metadata, ErrNotFound)
	if err == nil && r.V().ForMembers() && !s.members {
		return item.League{}, ErrNotFound
	}

	return *r.V(), err
}

// season reads a season by the slugs or ids of its league and of itself.
func (s *Service) season(ctx context.Context, leagueSlug, slug string) (l item.League, x item.Season, err error) {
	if l, err = s.league(ctx, leagueSlug); err != nil {
		return l, x, err
	}

	id, err := s.find(ctx, item.LeagueKey(l.ID), item.SlugKey(slug), slug)
	if err != nil {
		return l, x, err
	}

	r, err := item.Read[item.Season](ctx, s.db, tables.GetSeason, item.SeasonKey(id), item.Metadata, ErrNotFound)
	if err == nil && r.V().LeagueID != l.ID {
		err = ErrNotFound
	}

	return l, *r.V(), err
}

// SeasonPath are the slugs or ids of a season.
type SeasonPath struct {
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
	Season string `path:"season" maxLength:"40" doc:"The slug or the id of the season." example:"spring-2026"`
}

// Path are the slugs or ids of a game.
type Path struct {
	SeasonPath
	Game string `path:"game" maxLength:"40" doc:"The slug or the id of the game." example:"2026-06-06-1-7q2m"`
}

// view is a game with what belongs to it.
type view struct {
	league  item.League
	season  item.Season
	row     item.Row[item.Game]
	goals   []item.Goal
	players map[string]item.Player
}

// game reads a game by its slugs or ids.
func (s *Service) game(ctx context.Context, in Path) (v view, err error) {
	if v.league, v.season, err = s.season(ctx, in.League, in.Season); err != nil {
		return v, err
	}

	id, err := s.find(ctx, item.SeasonKey(v.season.ID), item.SlugKey(in.Game), in.Game)
	if err != nil {
		return v, err
	}

	if v.row, err = item.Read[item.Game](ctx, s.db, tables.GetGame, item.GameKey(id), item.Metadata, ErrNotFound); err != nil {
		return v, err
	}

	if v.row.V().SeasonID != v.season.ID {
		return v, ErrNotFound
	}

	return v, nil
}

// timeline reads the goals of a game, and the players in them, with the names of the players who count for them.
func (s *Service) timeline(ctx context.Context, v *view) error {
	rows, err := list[item.Goal](ctx, s.db, tables.ListGoals, v.row.PK, item.Goals)
	if err != nil {
		return err
	}

	v.goals = item.Values(rows)

	var ids []string
	for _, g := range v.goals {
		if ids = append(ids, g.Assists...); g.Scorer != "" {
			ids = append(ids, g.Scorer)
		}
	}

	v.players, err = item.ReadPlayers(ctx, s.db, tables.ReadNames, ids)
	if v.players = item.CountingNames(v.players); !s.members {
		v.players = item.PublicNames(v.players)
	}

	return err
}

// PublicGame is a game as everybody sees it.
type PublicGame struct {
	URL         string       `json:"url" doc:"The path of the page."`
	League      string       `json:"league" doc:"The name of the league."`
	Season      string       `json:"season" doc:"The name of the season."`
	Status      string       `json:"status" enum:"scheduled,live,finished" doc:"Live from the start of the first third on."`
	StartTs     time.Time    `json:"gameStartTs" doc:"When it is to start."`
	ThirdLength int          `json:"thirdLength" doc:"The minutes of a third."`
	Location    string       `json:"location,omitempty" doc:"Where it is played."`
	Running     int          `json:"runningThird,omitempty" doc:"The third that is being played, 1 to 3."`
	Teams       []item.Team  `json:"teams" doc:"The teams."`
	Scores      []item.Score `json:"scores" doc:"The score of each team, in the order of the teams."`
	Result      *item.Result `json:"result,omitempty" doc:"Of a finished game: fewest conceded wins, then most scored; else it is a draw. Absent for an abandoned game whose result does not stand."`
	game.Special
}

// PublicGamePage is the answer with a game.
type PublicGamePage struct {
	httpapi.Cached
	Body PublicGame
}

// GetGame is the request for a game.
type GetGame struct{ Path }

// GetGameFunction returns a game to everybody.
func GetGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-game",
		Does:   "Returns a game to everybody.",
		IfDown: "The app shows no game to people who are not signed in.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/leagues/{league}/seasons/{season}/games/{game}", Auth: spec.Public},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetGame, ErrNotFound)
}

// GetGame returns a game.
func (s *Service) GetGame(ctx context.Context, in *GetGame) (*PublicGamePage, error) {
	v, err := s.game(ctx, in.Path)
	if err != nil {
		return nil, err
	}

	return &PublicGamePage{web.Fresh, v.shown()}, nil
}

func (v view) shown() PublicGame {
	g := v.row.V()
	out := PublicGame{
		URL: "/l/" + v.league.Slug + "/" + v.season.Slug + "/" + g.Slug, League: v.league.Name, Season: v.season.Name,
		Status: item.ShownStatus(v.row.Status), StartTs: item.Parse(g.StartTs), ThirdLength: g.ThirdLength, Location: g.Location,
		Running: g.Running(),
		Teams:   append([]item.Team{}, g.Teams...), Scores: append([]item.Score{}, g.Scores...), Result: g.Result,
		Special: game.Special{State: g.State, Absent: g.Absent},
	}

	return out
}

// PublicGoal is a goal as everybody sees it.
type PublicGoal struct {
	Third     int      `json:"third" doc:"The third, 1 to 3."`
	Minute    int      `json:"gameMinute" doc:"The minute of the third, from 0."`
	Display   string   `json:"displayTime" doc:"The time as people write it." example:"20+3'"`
	Scoring   string   `json:"scoringTeamId,omitempty" doc:"The team that scored. Absent for an own goal."`
	Conceding string   `json:"concedingTeamId" doc:"The team that conceded."`
	Scorer    string   `json:"scorer" doc:"The nickname of who scored. Empty if that is unknown, or a guest."`
	Guest     bool     `json:"guest,omitempty" doc:"The scorer is a guest, who is no player of the league."`
	Assists   []string `json:"assists" doc:"The nicknames of who assisted."`
	OwnGoal   bool     `json:"ownGoal" doc:"An own goal counts for nobody."`
}

// Timeline is the answer with the goals of a game.
type Timeline struct {
	httpapi.Cached
	Body struct {
		Goals []PublicGoal `json:"goals" doc:"In their order."`
	}
}

// GetTimeline is the request for the goals of a game.
type GetTimeline struct{ Path }

// GetTimelineFunction returns the goals of a game to everybody.
func GetTimelineFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-timeline",
		Does:   "Returns the goals of a game to everybody.",
		IfDown: "The app shows no timeline to people who are not signed in.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/leagues/{league}/seasons/{season}/games/{game}/timeline", Auth: spec.Public},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetTimeline, ErrNotFound)
}

// GetTimeline returns the goals of a game.
func (s *Service) GetTimeline(ctx context.Context, in *GetTimeline) (*Timeline, error) {
	v, err := s.game(ctx, in.Path)
	if err == nil {
		err = s.timeline(ctx, &v)
	}

	if err != nil {
		return nil, err
	}

	out := &Timeline{Cached: web.Fresh}
	out.Body.Goals = v.shownGoals()

	return out, nil
}

func (v view) shownGoals() []PublicGoal {
	all := make([]PublicGoal, len(v.goals))
	for i, g := range v.goals {
		all[i] = PublicGoal{
			Third: g.Third, Minute: g.Minute, Display: game.Display(g.Minute, v.row.V().ThirdLength), Scoring: g.Scoring, Conceding: g.Conceding,
			Scorer: v.players[g.Scorer].Nickname, Guest: g.Guest, Assists: []string{}, OwnGoal: g.OwnGoal,
		}
		for _, a := range g.Assists {
			all[i].Assists = append(all[i].Assists, v.players[a].Nickname)
		}
	}

	return all
}

// GetStandings is the request for the standings of a season.
type GetStandings struct {
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// Standings is the answer with standings.
type Standings struct {
	httpapi.Cached
	Body struct {
		Teams []standing.TeamStanding `json:"teams" doc:"In their order, by the rules of the season: by default more wins, then more draws, then fewer conceded, then more scored."`
	}
}

// GetStandingsFunction returns the standings of a season to everybody.
func GetStandingsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-standings",
		Does:   "Returns the standings of a season to everybody.",
		IfDown: "The app shows no standings.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/seasons/{seasonId}/standings", Auth: spec.Public},
		Uses:   []spec.Access{tables.ReadTables, tables.GetSeason, tables.GetLeague},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetStandings, ErrNotFound)
}

// GetStandings returns the standings of a season, of its finished games. Errors: ErrNotFound.
func (s *Service) GetStandings(ctx context.Context, in *GetStandings) (*Standings, error) {
	if err := s.exists(ctx, in.SeasonID); err != nil {
		return nil, err
	}

	all, err := s.standings(ctx, in.SeasonID)
	if err != nil {
		return nil, err
	}

	out := &Standings{Cached: web.Fresh}
	out.Body.Teams = all

	return out, nil
}

func (s *Service) standings(ctx context.Context, seasonID string) ([]standing.TeamStanding, error) {
	rows, err := list[standing.TeamStanding](ctx, s.db, tables.ReadTables, item.SeasonKey(seasonID), standing.TeamRows)
	all := item.Values(rows)
	slices.SortFunc(all, func(a, b standing.TeamStanding) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.TeamID, b.TeamID))
	})

	for i, t := range all {
		all[i].PerGame = standing.PerGame(t.Scored, t.Played)
	}

	return all, err
}

// exists returns ErrNotFound if there is no such season, if its league is for members, or is deleted.
func (s *Service) exists(ctx context.Context, seasonID string) error {
	x, err := item.Read[item.Season](ctx, s.db, tables.GetSeason, item.SeasonKey(seasonID), item.Metadata, ErrNotFound)
	if err != nil {
		return err
	}

	_, err = s.league(ctx, x.V().LeagueID)

	return err
}

// GetLeaders is the request for the players of a season.
type GetLeaders struct {
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"The number of players."`
}

// Leaders is the answer with players.
type Leaders struct {
	httpapi.Cached
	Body struct {
		Players []standing.PlayerTotals `json:"players" doc:"Most goals first, then most assists, then fewest games."`
	}
}

// GetLeadersFunction returns the players of a season who have scored most to everybody.
func GetLeadersFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-leaders",
		Does:   "Returns the players of a season who have scored most to everybody.",
		IfDown: "The app shows no leaders.",
		On: spec.Route{
			Method:  "GET",
			Path:    "/v1/public/seasons/{seasonId}/leaderboards/players",
			Auth:    spec.Public,
			Queries: []string{"limit"},
		},
		Uses:   []spec.Access{tables.ReadTables, tables.GetSeason, tables.GetLeague},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetLeaders, ErrNotFound)
}

// GetLeaders returns the players of a season who have scored most. Errors: ErrNotFound.
func (s *Service) GetLeaders(ctx context.Context, in *GetLeaders) (*Leaders, error) {
	if err := s.exists(ctx, in.SeasonID); err != nil {
		return nil, err
	}

	all, err := s.leaders(ctx, in.SeasonID, in.Limit)
	if err != nil {
		return nil, err
	}

	out := &Leaders{Cached: web.Fresh}

	out.Body.Players = all

	return out, nil
}

// leaders reads the players of a season who have scored most, as everybody sees them, or members.
func (s *Service) leaders(ctx context.Context, seasonID string, limit int) ([]standing.PlayerTotals, error) {
	r, err := item.Read[[]standing.PlayerTotals](ctx, s.db, tables.ReadTables, item.SeasonKey(seasonID), standing.Leaders, nil)
	all := append([]standing.PlayerTotals{}, *r.V()...)
	all = all[:min(len(all), limit)]

	for i, p := range all {
		if !s.members {
			all[i] = p.Public()
		}

		all[i].PerGame = standing.PerGame(p.Goals, p.Games)
	}

	return all, err
}
