package catalog

import (
	"cmp"
	"context"
	"slices"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// LeagueRow is a row of cricket-leagues. Title, Priority and Active belong to the
// administrators: no sync writes them to an existing row.
type LeagueRow struct {
	ProvidedLeague
	Title    string `dynamodbav:"title,omitempty"`
	Priority int    `dynamodbav:"priority,omitempty"`
}

// League is a competition.
type League struct {
	ID       string `json:"id" doc:"The id of the league."`
	Title    string `json:"title" doc:"The display name: set by an administrator, or the name."`
	Name     string `json:"name" doc:"The provider's name."`
	Code     string `json:"code" doc:"The provider's short code."`
	SeasonID string `json:"seasonId" doc:"The id of the current season."`
	Image    string `json:"image,omitempty" doc:"The address of the provider's image."`
	Active   bool   `json:"active" doc:"Whether the matches of the league are polled and send alerts. Those of an inactive league stay as they are stored."`
	Priority int    `json:"priority" doc:"Leagues are listed by descending priority."`
}

// league returns the row as the API returns it.
func (l LeagueRow) league() League {
	return League{
		ID: l.LeagueID, Title: cmp.Or(l.Title, l.Name), Name: l.Name, Code: l.Code,
		SeasonID: l.SeasonID, Image: l.Image, Active: l.Active, Priority: l.Priority,
	}
}

var errNoLeague = problem.New(problem.NotFound, "league_not_found", "the league does not exist")

// ListLeagues is the request for all leagues.
type ListLeagues struct {
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// LeagueList is a page of leagues in descending order of priority, then in order of
// title. Next is the cursor of the next page; the last page has none.
type LeagueList struct {
	httpapi.Cached
	Body struct {
		Leagues []League `json:"leagues" doc:"The leagues of this page."`
		Next    string   `json:"next,omitempty"`
	}
}

// ListLeaguesFunction answers with all leagues.
func ListLeaguesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-leagues",
		Does:   "Lists all leagues, highest priority first.",
		IfDown: "The league list does not load.",
		On:     spec.Route{Method: "GET", Path: "/leagues", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.AllLeagues},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).ListLeagues, httpapi.ErrBadCursor)
}

// ListLeagues returns all leagues. They may be up to a minute old. A cursor of no
// league is httpapi.ErrBadCursor.
func (r *Reference) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	all, err := r.leagues.get(r.now(), func() ([]League, error) {
		rows, err := dynamo.ScanAll[LeagueRow](ctx, r.db.Eventual(), tables.AllLeagues, nil)

		all := make([]League, len(rows))
		for i, row := range rows {
			all[i] = row.league()
		}

		slices.SortFunc(all, func(a, b League) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID))
		})

		return all, err
	})
	if err != nil {
		return nil, err
	}

	out := &LeagueList{Cached: cacheReference}
	out.Body.Leagues, out.Body.Next, err = httpapi.Page(all, func(l League) string { return l.ID }, in.Cursor, in.Limit)

	return out, err
}

// GetLeague is the request for one league.
type GetLeague struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the league."`
}

// LeaguePage is the response with a league.
type LeaguePage struct {
	httpapi.Cached
	Body League
}

// GetLeagueFunction answers with one league.
func GetLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-league",
		Does:   "Returns one league.",
		IfDown: "League pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/leagues/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).GetLeague, errNoLeague)
}

// GetLeague returns a league. It returns NotFound if the league does not exist.
func (r *Reference) GetLeague(ctx context.Context, in *GetLeague) (*LeaguePage, error) {
	l, err := league(ctx, r.db.Eventual(), in.ID)
	return &LeaguePage{cacheReference, l}, err
}

// league reads a league. It returns errNoLeague if there is no such row.
func league(ctx context.Context, db dynamo.DB, id string) (League, error) {
	row, ok, err := dynamo.Get[LeagueRow](ctx, db, tables.GetLeague, id)
	if err == nil && !ok {
		err = errNoLeague
	}

	return row.league(), err
}

// UpdateLeague is the request to change the attributes of a league that belong to
// the administrators.
type UpdateLeague struct {
	auth.Admin
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the league."`
	Body struct {
		Active   *bool   `json:"active,omitempty" doc:"Whether the matches of the league are polled and send alerts. Those of an inactive league stay as they are stored."`
		Title    *string `json:"title,omitempty" format:"display-name" minLength:"0" maxLength:"64" doc:"The display name. Empty resets it to the provider's name."`
		Priority *int    `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"Leagues are listed by descending priority."`
	}
}

// UpdateLeagueFunction changes the attributes of a league that belong to the administrators.
func UpdateLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/update-league",
		Does:   "Changes the title or priority of a league, or sets whether its matches are polled and send alerts.",
		IfDown: "Administrators cannot change leagues.",
		On:     spec.Route{Method: "PATCH", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.UpdateLeague, tables.GetLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).UpdateLeague, errNoLeague)
}

// UpdateLeague changes the attributes that the request has. No sync overwrites them.
// It returns NotFound if the league does not exist, and Invalid if the request has no
// attribute.
func (r *Reference) UpdateLeague(ctx context.Context, in *UpdateLeague) (*LeaguePage, error) {
	var row LeagueRow

	names := assign(nil, "active", &row.Active, in.Body.Active)
	names = assign(names, "title", &row.Title, in.Body.Title)

	names = assign(names, "priority", &row.Priority, in.Body.Priority)
	if err := edit(ctx, r.db, tables.UpdateLeague, in.ID, row, names, errNoLeague); err != nil {
		return nil, err
	}

	l, err := league(ctx, r.db, in.ID)

	return &LeaguePage{Body: l}, err
}

// DeleteLeague is the request to remove a league.
type DeleteLeague struct {
	auth.Admin
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of a league that the provider no longer lists. If the provider still lists it, the next sync creates it again, active and with default values: to hide its matches, set active to false instead."`
}

// DeleteLeagueFunction removes a league that the provider no longer has.
func DeleteLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/delete-league",
		Does:   "Deletes a league that the provider no longer lists.",
		IfDown: "Administrators cannot delete leagues.",
		On:     spec.Route{Method: "DELETE", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.DeleteLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).DeleteLeague, errNoLeague)
}

// DeleteLeague deletes the row of a league, but not its matches. If the provider still lists the
// league, the next sync writes the row again. It returns NotFound if the league does not exist.
func (r *Reference) DeleteLeague(ctx context.Context, in *DeleteLeague) (*httpapi.Removed, error) {
	deleted, err := dynamo.Delete(ctx, r.db, tables.DeleteLeague, dynamo.Key(tables.DeleteLeague, in.ID))
	if err != nil {
		return nil, err
	}

	if deleted == nil {
		return nil, errNoLeague
	}

	return httpapi.NewRemoved(), nil
}

// ListSeasonTeams is the request for the teams of a season.
type ListSeasonTeams struct {
	ID     string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the season."`
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// SeasonTeamList is a page of the teams of a season. Next is the cursor of the next
// page; the last page has none.
type SeasonTeamList struct {
	httpapi.Cached
	Body struct {
		Teams []TeamRef `json:"teams" doc:"The teams of this page."`
		Next  string    `json:"next,omitempty"`
	}
}

// ListSeasonTeamsFunction answers with the teams of a season.
func ListSeasonTeamsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-season-teams",
		Does:   "Lists the teams of a season.",
		IfDown: "Season pages show no teams.",
		On:     spec.Route{Method: "GET", Path: "/seasons/{id}/teams", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.TeamsOfSeason},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).ListSeasonTeams)
}

// ListSeasonTeams returns the teams that play in a season. The list is empty for an
// unknown season.
func (r *Reference) ListSeasonTeams(ctx context.Context, in *ListSeasonTeams) (*SeasonTeamList, error) {
	q := dynamo.Range{Key: OfSeason(in.ID), Limit: in.Limit}
	if in.Cursor != "" {
		q.After = dynamo.Key(tables.TeamsOfSeason, in.ID, in.Cursor)
	}

	rows, last, err := dynamo.Query[SeasonTeam](ctx, r.db, tables.TeamsOfSeason, q)
	if err != nil {
		return nil, err
	}

	out := &SeasonTeamList{Cached: cacheReference}

	out.Body.Teams = make([]TeamRef, len(rows))
	for i, t := range rows {
		out.Body.Teams[i] = TeamRef{t.TeamID, t.Code, t.Name}
	}

	if last != nil {
		out.Body.Next = rows[len(rows)-1].TeamID
	}

	return out, nil
}
