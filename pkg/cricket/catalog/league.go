package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

// LeagueRow is a row of cricket-leagues in full: what the provider says of a
// league, and what administrators do, which no sync writes; nor active.
type LeagueRow struct {
	ProvidedLeague
	Title    string `dynamodbav:"title,omitempty"`
	Priority int    `dynamodbav:"priority,omitempty"`
}

// get returns the list, which its callers share: they must not change it.
func (k *kept[T]) get(now time.Time, read func() ([]T, error)) ([]T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Before(k.until) {
		return k.all, nil
	}
	all, err := read()
	if err != nil {
		return nil, err
	}
	k.all, k.until = all, now.Add(keepScan)
	return all, nil
}

// League is a competition.
type League struct {
	ID       string `json:"id"`
	Title    string `json:"title" doc:"What to call it: an administrator's choice, or its name."`
	Name     string `json:"name" doc:"In the provider's words, as the code."`
	Code     string `json:"code"`
	SeasonID string `json:"seasonId" doc:"The current season."`
	Image    string `json:"image,omitempty"`
	Active   bool   `json:"active" doc:"Whether its matches are here."`
	Priority int    `json:"priority" doc:"The higher, the earlier in a list."`
}

func (l LeagueRow) shown() League {
	return League{
		ID: l.LeagueID, Title: cmp.Or(l.Title, l.Name), Name: l.Name, Code: l.Code,
		SeasonID: l.SeasonID, Image: l.Image, Active: l.Active, Priority: l.Priority,
	}
}

var errNoLeague = problem.New(problem.NotFound, "league_not_found", "no such league")

// ListLeagues asks for all leagues.
type ListLeagues struct {
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"Next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// LeagueList is a page of leagues, those of the highest priority first. Next is
// the cursor of the page that follows, absent at the end.
type LeagueList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Leagues []League `json:"leagues"`
		Next    string   `json:"next,omitempty"`
	}
}

// ListLeagues returns all leagues, as they were a minute ago at most.
func (r *Reference) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	all, err := r.leagues.get(r.now(), func() ([]League, error) {
		rows, err := dynamo.ScanAll[LeagueRow](ctx, r.db, tables.AllLeagues, nil)
		all := make([]League, len(rows))
		for i, row := range rows {
			all[i] = row.shown()
		}
		slices.SortFunc(all, func(a, b League) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID))
		})
		return all, err
	})
	if err != nil {
		return nil, err
	}
	out := &LeagueList{CacheControl: cacheReference}
	out.Body.Leagues, out.Body.Next, err = httpapi.Page(all, func(l League) string { return l.ID }, in.Cursor, in.Limit)
	return out, err
}

// GetLeague asks for one league.
type GetLeague struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The league."`
}

// LeaguePage is the answer with a league.
type LeaguePage struct {
	CacheControl string `header:"Cache-Control"`
	Body         League
}

// GetLeague returns a league, or NotFound.
func (r *Reference) GetLeague(ctx context.Context, in *GetLeague) (*LeaguePage, error) {
	l, err := r.league(ctx, in.ID)
	return &LeaguePage{cacheReference, l}, err
}

func (r *Reference) league(ctx context.Context, id string) (League, error) {
	row, ok, err := dynamo.Get[LeagueRow](ctx, r.db, tables.GetLeague, id)
	if err == nil && !ok {
		err = errNoLeague
	}
	return row.shown(), err
}

// UpdateLeague changes what is an administrator's of a league.
type UpdateLeague struct {
	auth.Admin
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The league."`
	Body struct {
		Active   *bool   `json:"active,omitempty" doc:"Whether its matches are here."`
		Title    *string `json:"title,omitempty" maxLength:"64" pattern:"^(\\S(.*\\S)?)?$" doc:"What to call it; empty for its name."`
		Priority *int    `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"The higher, the earlier in a list."`
	}
}

// UpdateLeague changes the attributes that are given, which syncs leave alone. A
// league that is not there is NotFound.
func (r *Reference) UpdateLeague(ctx context.Context, in *UpdateLeague) (*LeaguePage, error) {
	var e edit
	give(&e, "active", in.Body.Active)
	give(&e, "title", in.Body.Title)
	give(&e, "priority", in.Body.Priority)
	if err := e.apply(ctx, r.db, tables.UpdateLeague, in.ID, errNoLeague); err != nil {
		return nil, err
	}
	l, err := r.league(ctx, in.ID)
	return &LeaguePage{httpapi.NoStore, l}, err
}

// DeleteLeague removes a league.
type DeleteLeague struct {
	auth.Admin
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"A league that the provider has no more. One that it has is put back by the next sync, active and without what administrators said of it: to be rid of its matches, set active to false."`
}

// DeleteLeague removes a league's row, and leaves its matches. There is no mark
// of it: what the provider still lists comes back. A league that is not there is
// NotFound.
func (r *Reference) DeleteLeague(ctx context.Context, in *DeleteLeague) (*httpapi.Removed, error) {
	was, err := dynamo.Delete(ctx, r.db, tables.DeleteLeague, dynamo.Key(tables.DeleteLeague, in.ID))
	if err != nil {
		return nil, err
	}
	if was == nil {
		return nil, errNoLeague
	}
	return httpapi.NewRemoved(), nil
}

// ListSeasonTeams asks who plays in a season.
type ListSeasonTeams struct {
	ID     string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The season."`
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"Next of the page before."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// SeasonTeamList is a page of the teams of a season. Next is the cursor of the
// page that follows, absent at the end.
type SeasonTeamList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Teams []TeamRef `json:"teams"`
		Next  string    `json:"next,omitempty"`
	}
}

// ListSeasonTeams returns the teams that are known to play in a season: none for
// a season that is not known.
func (r *Reference) ListSeasonTeams(ctx context.Context, in *ListSeasonTeams) (*SeasonTeamList, error) {
	q := dynamo.Range{Key: OfSeason(in.ID), Limit: in.Limit}
	if in.Cursor != "" {
		q.After = dynamo.Key(tables.TeamsOfSeason, in.ID, in.Cursor)
	}
	rows, last, err := dynamo.Query[SeasonTeam](ctx, r.db, tables.TeamsOfSeason, q)
	if err != nil {
		return nil, err
	}
	out := &SeasonTeamList{CacheControl: cacheReference}
	out.Body.Teams = make([]TeamRef, len(rows))
	for i, t := range rows {
		out.Body.Teams[i] = TeamRef{t.TeamID, t.Code, t.Name}
	}
	if last != nil {
		out.Body.Next = rows[len(rows)-1].TeamID
	}
	return out, nil
}
