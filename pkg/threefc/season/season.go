// Package season keeps the seasons of leagues, their teams and their sessions.
//
// Seasons and sessions are in two copies: one in the list of what they belong to, one under their
// own id. Both are always written in one transaction.
package season

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the runtime has no database of time zones

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

var (
	errSlug = problem.New(problem.Conflict, "slug_taken", "another season of the league has this slug").In("body.slug")
	errName = problem.New(problem.Conflict, "slug_taken",
		"another season of the league has a name with the same slug: choose another name or a slug").In("body.name")
	errNotEmpty = problem.New(problem.Conflict, "season_not_empty", "the season has sessions: delete them first")
	errZone     = problem.New(problem.Unprocessable, "unknown_time_zone",
		"there is no such time zone: use a name like Europe/London").In("body.timeZone")
	errDates = problem.New(problem.Unprocessable, "season_ends_before_it_starts",
		"a season must end on the day it starts, or later").In("body.endsOn")
)

// Service is the service of seasons, teams and sessions.
type Service struct {
	signin.Base
	queue queue.Sender
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env), queue.Open(env.AWS, env.Queues)}, nil
}

// Season is a season as the members of its league see it.
type Season struct {
	SeasonID string `json:"seasonId" doc:"The id of the season."`
	LeagueID string `json:"leagueId" doc:"The id of the league."`
	Name     string `json:"name" doc:"The name of the season."`
	Slug     string `json:"slug" doc:"The name in URLs." example:"spring-2026"`
	StartsOn string `json:"startsOn,omitempty" doc:"The first day." example:"2026-03-01"`
	EndsOn   string `json:"endsOn,omitempty" doc:"The last day." example:"2026-06-30"`
	TimeZone string `json:"timeZone" doc:"Where it is played, for times on pages." example:"Europe/London"`
	Teams    int    `json:"teamCount" doc:"The number of teams."`
	Sessions int    `json:"sessionCount" doc:"The number of sessions."`
	Rules    Rules  `json:"rules" doc:"The rules of its tables."`
}

func shown(s item.Season) Season {
	return Season{s.ID, s.LeagueID, s.Name, s.Slug, s.Starts, s.Ends, s.TimeZone, s.Teams, s.Sessions, shownRules(s)}
}

// SeasonPage is the answer with a season.
type SeasonPage struct {
	Status int
	ETag   string `header:"ETag"`
	Body   Season
}

func page(status int, row item.Row[item.Season]) *SeasonPage {
	return &SeasonPage{status, httpapi.ETag(row.Rev), shown(*row.V())}
}

// Fields are the fields of a season that a user sends.
type Fields struct {
	_ struct{} `schema:"SeasonFields"`

	Name     string `json:"name,omitempty" format:"display-name" doc:"The name of the season." example:"Spring 2026"`
	Slug     string `json:"slug,omitempty" minLength:"3" maxLength:"40" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The name in URLs, unique in the league: by default one that is made of the name." example:"spring-2026"`
	StartsOn string `json:"startsOn,omitempty" format:"date" doc:"The first day." example:"2026-03-01"`
	EndsOn   string `json:"endsOn,omitempty" format:"date" doc:"The last day." example:"2026-06-30"`
	TimeZone string `json:"timeZone,omitempty" maxLength:"40" doc:"Where it is played, a name of the IANA database: by default UTC." example:"Europe/London"`

	Rules *RuleFields `json:"rules,omitempty" doc:"The rules of its tables. They may change at any time: the tables are computed again from all games."`
}

// apply sets the fields of a season, or returns an error if they are not valid.
func (f Fields) apply(s *item.Season, by string, now time.Time) error {
	s.Name, s.Starts, s.Ends = cmp.Or(f.Name, s.Name), cmp.Or(f.StartsOn, s.Starts), cmp.Or(f.EndsOn, s.Ends)
	s.TimeZone = cmp.Or(f.TimeZone, s.TimeZone, "UTC")

	s.Slug = cmp.Or(f.Slug, s.Slug, league.Slug(s.Name))
	if _, err := httpapi.TimeZone(s.TimeZone); err != nil {
		return errZone
	}

	if s.Ends != "" && s.Ends < s.Starts {
		return errDates
	}

	return f.Rules.apply(s, by, now)
}

// CreateSeason is the request for a new season.
type CreateSeason struct {
	auth.User
	idem.Key
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Body     struct {
		Fields
		Name string `json:"name" format:"display-name" doc:"The name of the season." example:"Spring 2026"`
	}
}

// CreateSeasonFunction creates a season of a league.
func CreateSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/create-season",
		Does:   "Creates a season of a league.",
		IfDown: "No season can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/seasons", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.CreateSeason), Limits: []spec.Limit{MaxSeasons},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CreateSeason,
		errDates, errName, errPoints, errSlug, errZone, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// CreateSeason creates a season, in both copies. A league has one season of a name, unless
// the others are given slugs. Errors: slug_taken, too_many_seasons,
// unknown_time_zone, season_ends_before_it_starts, bad_points.
func (s *Service) CreateSeason(ctx context.Context, in *CreateSeason) (*SeasonPage, error) {
	fields := in.Body.Fields
	fields.Name = in.Body.Name

	return idem.Once(ctx, s.Answers, CreateSeasonFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SeasonPage]) (*SeasonPage, error) {
			return s.create(ctx, in.LeagueID, in.UserID, fields, nil, nil, commit)
		})
}

// create creates a season with teams and their squads, at most MaxTeams of each.
func (s *Service) create(ctx context.Context, leagueID, userID string, fields Fields, teams []item.Team, squads []item.Squad,
	commit idem.Commit[SeasonPage]) (*SeasonPage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*SeasonPage, error) {
		parent, _, err := item.LeagueRow.ReadAs(ctx, s.DB, leagueID, userID, item.Admin)
		if err != nil {
			return nil, err
		}

		if parent.V().Seasons++; parent.V().Seasons > MaxSeasons.Max {
			return nil, problem.Beyond(MaxSeasons)
		}

		now := s.Now()
		id := code.NewID(now)

		data := item.Season{ID: id, LeagueID: leagueID, Teams: len(teams)}
		if err := fields.apply(&data, userID, now); err != nil {
			return nil, err
		}

		row := item.New(item.SeasonKey(id), item.Metadata, "Season", data, now)
		to := item.New(item.LeagueKey(leagueID), item.SlugKey(data.Slug), "Slug", item.Ref{ID: id}, now)
		_, counted := parent.Save(now)

		writes := []dynamo.Write{to.Create(), row.Create(), row.Mirror(item.LeagueKey(leagueID), row.PK), counted}
		for _, t := range teams {
			writes = append(writes, item.New(row.PK, item.TeamKey(t.TeamID), "Team", t, now).Create())
		}

		for _, q := range squads {
			writes = append(writes, item.New(row.PK, item.Squads+q.TeamID, "Squad", q, now).Create())
		}

		out := page(http.StatusCreated, row)

		err = commit(ctx, tables.CreateSeason, out, writes...)
		switch {
		case item.RefusedWrite(err) != 0:
			return out, err
		case fields.Slug == "":
			return nil, errName
		}

		return nil, errSlug
	})
}

// CopySeason is the request for the next season.
type CopySeason struct {
	auth.User
	idem.Key
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season that is copied."`
	Body     struct {
		Fields
		Name string `json:"name" format:"display-name" doc:"The name of the new season." example:"Autumn 2026"`

		Squads bool `json:"squads,omitempty" doc:"Copy the squads of the teams, too."`
	}
}

// CopySeasonFunction creates the next season of a league, with the teams of another.
func CopySeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/copy-season",
		Does:   "Creates the next season of a league, with the teams of another.",
		IfDown: "Teams must be entered again for a new season.",
		On:     spec.Route{Method: "POST", Path: "/v1/seasons/{seasonId}/copy", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.GetSeason, tables.ListTeams, tables.ListSquads, tables.CreateSeason),
		Limits: []spec.Limit{MaxSeasons},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CopySeason,
		errDates, errName, errPoints, errSlug, errZone, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// CopySeason creates a season with the teams, the time zone and the rules of another, and with their squads
// if that is requested. Errors: those of CreateSeason.
func (s *Service) CopySeason(ctx context.Context, in *CopySeason) (*SeasonPage, error) {
	fields := in.Body.Fields
	fields.Name = in.Body.Name

	return idem.Once(ctx, s.Answers, CopySeasonFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SeasonPage]) (*SeasonPage, error) {
			from, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
			if err != nil {
				return nil, err
			}

			teams, err := item.List[item.Team](ctx, s.DB, tables.ListTeams, from.PK, item.Teams)
			if err != nil {
				return nil, err
			}

			var squads []item.Row[item.Squad]
			if in.Body.Squads {
				if squads, err = item.List[item.Squad](ctx, s.DB, tables.ListSquads, from.PK, item.Squads); err != nil {
					return nil, err
				}
			}

			fields.TimeZone = cmp.Or(fields.TimeZone, from.V().TimeZone)
			fields.Rules = fields.Rules.or(*from.V())

			return s.create(ctx, from.V().LeagueID, in.UserID, fields, item.Values(teams), item.Values(squads), commit)
		})
}

// ListSeasons is the request for the seasons of a league.
type ListSeasons struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// SeasonList is the answer with seasons.
type SeasonList struct {
	Body struct {
		Seasons []Season `json:"seasons" doc:"The newest first."`
	}
}

// ListSeasonsFunction returns the seasons of a league.
func ListSeasonsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-seasons",
		Does:   "Returns the seasons of a league.",
		IfDown: "The app shows no seasons.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/seasons", Auth: spec.Session},
		Uses:   league.Reads(tables.ListSeasons),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListSeasons, item.ErrAccess)
}

// ListSeasons returns the seasons of a league.
func (s *Service) ListSeasons(ctx context.Context, in *ListSeasons) (*SeasonList, error) {
	if _, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Viewer); err != nil {
		return nil, err
	}

	rows, err := item.List[item.Season](ctx, s.DB, tables.ListSeasons, item.LeagueKey(in.LeagueID), item.Seasons)
	if err != nil {
		return nil, err
	}

	out := &SeasonList{}

	out.Body.Seasons = make([]Season, len(rows))
	for i, v := range item.Values(rows) {
		out.Body.Seasons[len(rows)-1-i] = shown(v)
	}

	return out, nil
}

// GetSeason is the request for a season.
type GetSeason struct {
	auth.User
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// GetSeasonFunction returns a season.
func GetSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-season",
		Does:   "Returns a season.",
		IfDown: "The app does not show a season.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetSeason, item.ErrAccess, item.ErrScope)
}

// GetSeason returns a season.
func (s *Service) GetSeason(ctx context.Context, in *GetSeason) (*SeasonPage, error) {
	row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	return page(http.StatusOK, row), nil
}

// save returns the season as written, and the writes of both copies.
func save(row item.Row[item.Season], now time.Time) (item.Row[item.Season], []dynamo.Write) {
	row, saved := row.Save(now)
	return row, []dynamo.Write{saved, row.Mirror(item.LeagueKey(row.V().LeagueID), row.PK)}
}

// UpdateSeason is the request to change a season.
type UpdateSeason struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	Body     Fields
}

// UpdateSeasonFunction changes the name, the slug, the dates, the time zone or the rules of a season.
func UpdateSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/update-season",
		Does:   "Changes the name, the slug, the dates, the time zone or the rules of a season.",
		IfDown: "A season cannot be changed.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.SaveSeason), Sends: []spec.Queue{game.AggregateQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).UpdateSeason, errDates, errPoints, errSlug, errZone, idem.ErrConflict, item.ErrAccess, item.ErrAdmin,
		item.ErrScope)
}

// UpdateSeason changes a season. With other rules the tables are computed again, and the season keeps who has
// made the change. Errors: slug_taken, stale, unknown_time_zone, season_ends_before_it_starts, bad_points.
func (s *Service) UpdateSeason(ctx context.Context, in *UpdateSeason) (*SeasonPage, error) {
	return idem.Once(ctx, s.Answers, UpdateSeasonFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SeasonPage]) (*SeasonPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*SeasonPage, error) {
				row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
				if err != nil {
					return nil, err
				}

				if err := in.IfMatch.Check(row.Rev); err != nil {
					return nil, err
				}

				now, was := s.Now(), *row.V()
				if err := in.Body.apply(row.V(), in.UserID, now); err != nil {
					return nil, err
				}

				if *row.V() == was {
					return page(http.StatusOK, row), nil
				}

				row, writes := save(row, now)
				if slug := row.V().Slug; slug != was.Slug {
					to := item.New(item.LeagueKey(was.LeagueID), item.SlugKey(slug), "Slug", item.Ref{ID: was.ID}, now)
					writes = append(writes, to.Create(), dynamo.DeleteWrite(item.Key(to.PK, item.SlugKey(was.Slug))))
				}

				ruled := row.V().Rules != was.Rules
				if ruled {
					writes = append(writes, game.ReorderWrite(*row.V(), row.Rev, now))
				}

				out := page(http.StatusOK, row)

				if err = commit(ctx, tables.SaveSeason, out, writes...); err == nil && ruled {
					game.Reorder(ctx, s.queue, in.SeasonID)
				}

				if item.RefusedWrite(err) == 2 {
					return nil, errSlug
				}

				return out, err
			})
		})
}

// DeleteSeason is the request to delete a season.
type DeleteSeason struct {
	auth.User
	httpapi.IfMatch
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// DeleteSeasonFunction deletes a season without sessions.
func DeleteSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-season",
		Does:   "Deletes a season without sessions.",
		IfDown: "A season cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetLeague, tables.GetSeason, tables.SaveSeason, tables.DropSeason),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteSeason, errNotEmpty, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteSeason deletes a season without sessions, with its teams and what was computed of
// its games. Errors: season_not_empty, stale.
func (s *Service) DeleteSeason(ctx context.Context, in *DeleteSeason) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
		if err != nil {
			return nil, err
		}

		if err := in.IfMatch.Check(row.Rev); err != nil {
			return nil, err
		}

		if row.V().Sessions > 0 {
			return nil, errNotEmpty
		}

		parent, err := item.LeagueRow.Read(ctx, s.DB, row.V().LeagueID)
		if err != nil {
			return nil, err
		}

		all, err := item.List[json.RawMessage](ctx, s.DB, tables.DropSeason, row.PK, "")
		if err != nil {
			return nil, err
		}

		var (
			teams            []item.Any
			copies, computed []dynamo.Item
		)

		for _, r := range all {
			switch {
			case r.EntityType == "Team":
				teams = append(teams, r)
			case r.SK != item.Metadata:
				computed = append(computed, item.Key(r.PK, r.SK))
			}

			if id, ok := strings.CutPrefix(r.SK, item.PlayerStats); ok {
				copies = append(copies, item.Key(item.PlayerKey(id), item.Stats+in.SeasonID))
			}
		}

		if err := dynamo.Check(ctx, s.DB, tables.DropSeason); err != nil {
			return nil, err
		}

		for _, keys := range [][]dynamo.Item{copies, computed} { // a second run finds the copies by the originals
			if err := dynamo.DeleteAll(ctx, s.DB, tables.DropSeason, keys); err != nil {
				return nil, err
			}
		}

		parent.V().Seasons--
		_, counted := parent.Save(s.Now())

		writes := []dynamo.Write{row.Drop(), counted, dynamo.DeleteWrite(item.Key(parent.PK, row.PK)),
			dynamo.DeleteWrite(item.Key(parent.PK, item.SlugKey(row.V().Slug)))}
		for _, t := range teams {
			writes = append(writes, dynamo.DeleteWrite(item.Key(t.PK, t.SK)))
		}

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.SaveSeason, writes...)
	})
}

// PutTeam is the request to create or change a team.
type PutTeam struct {
	auth.User
	idem.Key
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	TeamID   string `path:"teamId" maxLength:"24" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" example:"red" doc:"The id of the team: red, blue and yellow have a name and a color by default."`
	Body     struct {
		Name  string `json:"name,omitempty" format:"display-name" doc:"The name of the team." example:"Reds"`
		Color string `json:"color,omitempty" pattern:"^#[0-9a-f]{6}$" doc:"The color of the shirts." example:"#c8102e"`
	}
}

// TeamPage is the answer with a team.
type TeamPage struct {
	Status int
	Body   item.Team
}

// Defaults are the teams that need no name and no color.
var Defaults = map[string]item.Team{
	"red": {Name: "Red", Color: "#c8102e"}, "blue": {Name: "Blue", Color: "#0057b8"}, "yellow": {Name: "Yellow", Color: "#ffd100"},
}

var errTeamName = problem.New(problem.Unprocessable, "team_needs_a_name",
	"a team other than red, blue and yellow needs a name and a color").In("body.name")

// PutTeamFunction creates or changes a team of a season.
func PutTeamFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-team",
		Does:   "Creates or changes a team of a season.",
		IfDown: "Teams cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/seasons/{seasonId}/teams/{teamId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.PutTeam), Limits: []spec.Limit{MaxTeams},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutTeam, errTeamName, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// PutTeam creates or changes a team. Fields that a request leaves out stay, or get the default.
// Games that exist keep the team as it was. Errors: too_many_teams, team_needs_a_name.
func (s *Service) PutTeam(ctx context.Context, in *PutTeam) (*TeamPage, error) {
	return idem.Once(ctx, s.Answers, PutTeamFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[TeamPage]) (*TeamPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*TeamPage, error) {
				row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
				if err != nil {
					return nil, err
				}

				team, ok, err := dynamo.Get[item.Row[item.Team]](ctx, s.DB, tables.PutTeam, row.PK, item.TeamKey(in.TeamID))
				if err != nil {
					return nil, err
				}

				was, usual := *team.V(), Defaults[in.TeamID]
				now := s.Now()
				data := item.Team{
					TeamID: in.TeamID,
					Name:   cmp.Or(in.Body.Name, was.Name, usual.Name),
					Color:  cmp.Or(in.Body.Color, was.Color, usual.Color),
				}

				out := &TeamPage{http.StatusOK, data}
				switch {
				case data.Name == "" || data.Color == "":
					return nil, errTeamName
				case data == was:
					return out, nil
				case ok:
					*team.V() = data
					_, saved := team.Save(now)

					return out, commit(ctx, tables.PutTeam, out, saved)
				}

				if row.V().Teams++; row.V().Teams > MaxTeams.Max {
					return nil, problem.Beyond(MaxTeams)
				}

				_, writes := save(row, now)

				return out, commit(ctx, tables.PutTeam, out, append(writes, item.New(row.PK, item.TeamKey(in.TeamID), "Team", data, now).Create())...)
			})
		})
}

// ListTeams is the request for the teams of a season.
type ListTeams struct {
	auth.User
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// TeamList is the answer with teams.
type TeamList struct {
	Body struct {
		Teams  []item.Team  `json:"teams" doc:"In order of their ids."`
		Squads []item.Squad `json:"squads,omitempty" doc:"Who usually plays for them, of the teams that have a squad."`
	}
}

// ListTeamsFunction returns the teams of a season.
func ListTeamsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-teams",
		Does:   "Returns the teams of a season.",
		IfDown: "The app shows no teams.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}/teams", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason, tables.ListTeams, tables.ListSquads),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListTeams, item.ErrAccess, item.ErrScope)
}

// ListTeams returns the teams of a season.
func (s *Service) ListTeams(ctx context.Context, in *ListTeams) (*TeamList, error) {
	row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	teams, err := item.List[item.Team](ctx, s.DB, tables.ListTeams, row.PK, item.Teams)
	if err != nil {
		return nil, err
	}

	squads, err := item.List[item.Squad](ctx, s.DB, tables.ListSquads, row.PK, item.Squads)
	if err != nil {
		return nil, err
	}

	out := &TeamList{}
	out.Body.Teams, out.Body.Squads = item.Values(teams), item.Values(squads)

	return out, nil
}

// DeleteTeam is the request to delete a team.
type DeleteTeam struct {
	auth.User
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	TeamID   string `path:"teamId" maxLength:"24" doc:"The id of the team."`
}

// DeleteTeamFunction deletes a team of a season. Games keep it.
func DeleteTeamFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-team",
		Does:   "Deletes a team of a season. Games keep it.",
		IfDown: "Teams cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/seasons/{seasonId}/teams/{teamId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.PutTeam),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteTeam, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteTeam deletes a team of a season with its squad; games that exist keep it. A second run changes
// nothing.
func (s *Service) DeleteTeam(ctx context.Context, in *DeleteTeam) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
		if err != nil {
			return nil, err
		}

		team, ok, err := dynamo.Get[item.Row[item.Team]](ctx, s.DB, tables.PutTeam, row.PK, item.TeamKey(in.TeamID))
		if err != nil {
			return nil, err
		}

		if !ok {
			return httpapi.NewRemoved(), nil
		}

		row.V().Teams--
		_, writes := save(row, s.Now())

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.PutTeam,
			append(writes, team.Drop(), dynamo.DeleteWrite(item.Key(row.PK, item.Squads+in.TeamID)))...)
	})
}

// Session is a session as the members of the league see it.
type Session struct {
	SessionID string `json:"sessionId" doc:"The id of the session."`
	SeasonID  string `json:"seasonId" doc:"The id of the season."`
	LeagueID  string `json:"leagueId" doc:"The id of the league."`
	Date      string `json:"sessionDate" doc:"The day." example:"2026-06-06"`
	Games     int    `json:"gameCount" doc:"The number of games."`
}

func shownSession(s item.Session) Session {
	return Session{s.ID, s.SeasonID, s.LeagueID, s.Date, s.Games}
}

// CreateSession is the request for a new session.
type CreateSession struct {
	auth.User
	idem.Key
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	Body     struct {
		Date string `json:"sessionDate" format:"date" doc:"The day." example:"2026-06-06"`
	}
}

// SessionPage is the answer with a session.
type SessionPage struct {
	Status int
	Body   Session
}

// CreateSessionFunction creates a session of a season: a day on which games are played.
func CreateSessionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/create-session",
		Does:   "Creates a session of a season: a day on which games are played.",
		IfDown: "No session can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/seasons/{seasonId}/sessions", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetSeason, tables.ListSessions, tables.CreateSession), Limits: []spec.Limit{MaxSessions, MaxOfDay},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CreateSession, idem.ErrConflict, item.ErrAccess, item.ErrScorekeeper, item.ErrScope)
}

// CreateSession creates a session, in both copies. Errors: too_many_sessions,
// too_many_sessions_of_day.
func (s *Service) CreateSession(ctx context.Context, in *CreateSession) (*SessionPage, error) {
	return idem.Once(ctx, s.Answers, CreateSessionFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SessionPage]) (*SessionPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*SessionPage, error) {
				parent, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Scorekeeper)
				if err != nil {
					return nil, err
				}

				if parent.V().Sessions++; parent.V().Sessions > MaxSessions.Max {
					return nil, problem.Beyond(MaxSessions)
				}

				rows, err := item.List[item.Session](ctx, s.DB, tables.ListSessions, parent.PK, item.Sessions)
				if err != nil {
					return nil, err
				}

				sameDay := slices.DeleteFunc(item.Values(rows), func(x item.Session) bool { return x.Date != in.Body.Date })
				if len(sameDay) >= MaxOfDay.Max {
					return nil, problem.Beyond(MaxOfDay).In("body.sessionDate")
				}

				now := s.Now()
				id := code.NewID(now)
				x := item.Session{ID: id, LeagueID: parent.V().LeagueID, SeasonID: in.SeasonID, Date: in.Body.Date}
				out := &SessionPage{http.StatusCreated, shownSession(x)}

				return out, commit(ctx, tables.CreateSession, out, NewSession(parent, x, now)...)
			})
		})
}

// NewSession returns the writes that create a session of a season, which counts it already: first that of the
// session, which is refused if there is one with its id.
func NewSession(parent item.Row[item.Season], x item.Session, now time.Time) []dynamo.Write {
	row := item.New(item.SessionKey(x.ID), item.Metadata, "Session", x, now)
	_, writes := save(parent, now)

	return append([]dynamo.Write{row.Create(), row.Mirror(parent.PK, row.PK),
		item.New(item.DayKey(x.Date), row.PK, "Day", item.Day{ID: x.ID, TimeZone: parent.V().TimeZone}, now).Create()}, writes...)
}

// ListSessions is the request for the sessions of a season.
type ListSessions struct {
	auth.User
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
}

// SessionList is the answer with sessions.
type SessionList struct {
	Body struct {
		Sessions []Session `json:"sessions" doc:"In order of their days."`
	}
}

// ListSessionsFunction returns the sessions of a season.
func ListSessionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-sessions",
		Does:   "Returns the sessions of a season.",
		IfDown: "The app shows no sessions.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}/sessions", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason, tables.ListSessions),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListSessions, item.ErrAccess, item.ErrScope)
}

// ListSessions returns the sessions of a season.
func (s *Service) ListSessions(ctx context.Context, in *ListSessions) (*SessionList, error) {
	row, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	rows, err := item.List[item.Session](ctx, s.DB, tables.ListSessions, row.PK, item.Sessions)
	if err != nil {
		return nil, err
	}

	out := &SessionList{}

	out.Body.Sessions = make([]Session, len(rows))
	for i, v := range item.Values(rows) {
		out.Body.Sessions[i] = shownSession(v)
	}

	slices.SortStableFunc(out.Body.Sessions, func(a, b Session) int { return cmp.Compare(a.Date, b.Date) })

	return out, nil
}

// DeleteSession is the request to delete a session.
type DeleteSession struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

var errSessionNotEmpty = problem.New(problem.Conflict, "session_not_empty", "the session has games: delete them first")

// DeleteSessionFunction deletes a session without games.
func DeleteSessionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-session",
		Does:   "Deletes a session without games.",
		IfDown: "A session cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/sessions/{sessionId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSession, tables.GetSeason, tables.DropSession),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteSession, errSessionNotEmpty, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteSession deletes a session without games. Errors: session_not_empty.
func (s *Service) DeleteSession(ctx context.Context, in *DeleteSession) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		row, err := item.SessionRow.Read(ctx, s.DB, in.SessionID)
		if err != nil {
			return nil, err
		}

		parent, _, err := item.SeasonRow.ReadAs(ctx, s.DB, row.V().SeasonID, in.UserID, item.Admin)
		if err != nil {
			return nil, err
		}

		if row.V().Games > 0 {
			return nil, errSessionNotEmpty
		}

		rest, err := item.List[json.RawMessage](ctx, s.DB, tables.DropSession, row.PK, "AVAIL#")
		if err != nil {
			return nil, err
		}

		var keys []dynamo.Item
		for _, r := range rest {
			keys = append(keys, item.Key(r.PK, r.SK))
		}

		if err := dynamo.Check(ctx, s.DB, tables.DropSession); err != nil {
			return nil, err
		}

		if err := dynamo.DeleteAll(ctx, s.DB, tables.DropSession, keys); err != nil {
			return nil, err
		}

		parent.V().Sessions--
		_, writes := save(parent, s.Now())

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.DropSession,
			append(writes, row.Drop(), dynamo.DeleteWrite(item.Key(parent.PK, row.PK)), dynamo.DeleteWrite(item.Key(row.PK, item.PINKey)),
				dynamo.DeleteWrite(item.Key(item.DayKey(row.V().Date), row.PK)))...)
	})
}
