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

// TeamRef identifies a team.
type TeamRef struct {
	ID   string `json:"id" dynamodbav:"id" doc:"The id of the team."`
	Code string `json:"code" dynamodbav:"code" doc:"The provider's short code, such as IND."`
	Name string `json:"name" dynamodbav:"name" doc:"The display name."`
}

// TeamRow is a row of cricket-teams. Title, ShortName and Color belong to the
// administrators: no sync writes them.
type TeamRow struct {
	ProvidedTeam
	Title     string `dynamodbav:"title,omitempty"`
	ShortName string `dynamodbav:"shortName,omitempty"`
	Color     string `dynamodbav:"color,omitempty"`
}

// TeamProfile is a team as the API returns it.
type TeamProfile struct {
	ID        string `json:"id" doc:"The id of the team."`
	Title     string `json:"title" doc:"The display name: set by an administrator, or the name."`
	ShortName string `json:"shortName" doc:"The short display name: set by an administrator, or the code."`
	Color     string `json:"color,omitempty" example:"#0b5cad" doc:"The color as #rrggbb. Absent: none is set."`
	Name      string `json:"name" doc:"The provider's name."`
	Code      string `json:"code" doc:"The provider's short code, such as IND."`
	Image     string `json:"image,omitempty" doc:"The address of the provider's image."`
	National  bool   `json:"national" doc:"Whether it is a national team."`
}

// TeamRows lists all teams.
func TeamRows(ctx context.Context, db dynamo.DB) ([]TeamRow, error) {
	return dynamo.ScanAll[TeamRow](ctx, db, tables.AllTeams, nil)
}

// profile returns the row as the API returns it.
func (t TeamRow) profile() TeamProfile {
	return TeamProfile{
		ID: t.TeamID, Title: cmp.Or(t.Title, t.Name), ShortName: cmp.Or(t.ShortName, t.Code), Color: t.Color,
		Name: t.Name, Code: t.Code, Image: t.Image, National: t.National,
	}
}

var errNoTeam = problem.New(problem.NotFound, "team_not_found", "the team does not exist")

// ListTeams is the request for all teams.
type ListTeams struct {
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// TeamList is a page of teams in order of title. Next is the cursor of the next
// page; the last page has none.
type TeamList struct {
	httpapi.Cached
	Body struct {
		Teams []TeamProfile `json:"teams" doc:"The teams of this page."`
		Next  string        `json:"next,omitempty"`
	}
}

// ListTeamsFunction answers with all teams.
func ListTeamsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-teams",
		Does:   "Lists all teams in order of title.",
		IfDown: "The team list does not load.",
		On:     spec.Route{Method: "GET", Path: "/teams", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.AllTeams},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).ListTeams, httpapi.ErrBadCursor)
}

// ListTeams returns all teams. They may be up to a minute old. A cursor of no team is
// httpapi.ErrBadCursor.
func (r *Reference) ListTeams(ctx context.Context, in *ListTeams) (*TeamList, error) {
	all, err := r.teams.get(r.now(), func() ([]TeamProfile, error) {
		rows, err := dynamo.ScanAll[TeamRow](ctx, r.db.Eventual(), tables.AllTeams, nil)

		all := make([]TeamProfile, len(rows))
		for i, row := range rows {
			all[i] = row.profile()
		}

		slices.SortFunc(all, func(a, b TeamProfile) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID)) })

		return all, err
	})
	if err != nil {
		return nil, err
	}

	out := &TeamList{Cached: cacheReference}
	out.Body.Teams, out.Body.Next, err = httpapi.Page(all, func(t TeamProfile) string { return t.ID }, in.Cursor, in.Limit)

	return out, err
}

// GetTeam is the request for one team.
type GetTeam struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the team."`
}

// TeamPage is the response with a team.
type TeamPage struct {
	httpapi.Cached
	Body TeamProfile
}

// GetTeamFunction answers with one team.
func GetTeamFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-team",
		Does:   "Returns one team.",
		IfDown: "Team pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/teams/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetTeam},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).GetTeam, errNoTeam)
}

// GetTeam returns a team. It returns NotFound if the team does not exist.
func (r *Reference) GetTeam(ctx context.Context, in *GetTeam) (*TeamPage, error) {
	t, err := team(ctx, r.db.Eventual(), in.ID)
	return &TeamPage{cacheReference, t}, err
}

// team reads a team. It returns errNoTeam if there is no such row.
func team(ctx context.Context, db dynamo.DB, id string) (TeamProfile, error) {
	row, ok, err := dynamo.Get[TeamRow](ctx, db, tables.GetTeam, id)
	if err == nil && !ok {
		err = errNoTeam
	}

	return row.profile(), err
}

// UpdateTeam is the request to change the attributes of a team that belong to the
// administrators.
type UpdateTeam struct {
	auth.Admin
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the team."`
	Body struct {
		Title     *string `json:"title,omitempty" format:"display-name" minLength:"0" maxLength:"64" doc:"The display name. Empty resets it to the provider's name."`
		ShortName *string `json:"shortName,omitempty" format:"display-name" minLength:"0" maxLength:"8" doc:"The short display name. Empty resets it to the provider's code."`
		Color     *string `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" example:"#0b5cad" doc:"The color as #rrggbb. Empty removes it."`
	}
}

// UpdateTeamFunction changes the attributes of a team that belong to the administrators.
func UpdateTeamFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/update-team",
		Does:   "Changes the title, short name or color of a team.",
		IfDown: "Administrators cannot change teams.",
		On:     spec.Route{Method: "PATCH", Path: "/teams/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.UpdateTeam, tables.GetTeam},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).UpdateTeam, errNoTeam)
}

// UpdateTeam changes the attributes that the request has. No sync overwrites them. The next
// sync-fixtures names the team by the title and the short name in matches from two days before now
// on, also in live ones, and in their alerts.
//
// It returns NotFound if the team does not exist, and Invalid if the request has no attribute.
func (r *Reference) UpdateTeam(ctx context.Context, in *UpdateTeam) (*TeamPage, error) {
	var row TeamRow

	names := assign(nil, "title", &row.Title, in.Body.Title)
	names = assign(names, "shortName", &row.ShortName, in.Body.ShortName)

	names = assign(names, "color", &row.Color, in.Body.Color)
	if err := edit(ctx, r.db, tables.UpdateTeam, in.ID, row, names, errNoTeam); err != nil {
		return nil, err
	}

	t, err := team(ctx, r.db, in.ID)

	return &TeamPage{Body: t}, err
}
