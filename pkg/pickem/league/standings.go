package league

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Standing is a member's rank in a table.
type Standing struct {
	_ struct{} `schema:"LeagueStanding"`

	Rank     int    `json:"rank" doc:"From 1, by points, then by correct picks, then by fewer events played. Members with equal figures have the same rank; the next have the next rank."`
	Movement *int   `json:"movement,omitempty" doc:"The number of ranks gained by the latest event, negative for lost ranks. Absent for members without a rank before."`
	UserID   string `json:"userId" doc:"The id of the member."`
	Name     string `json:"name" doc:"The display name of the member."`
	Points   int    `json:"points" doc:"The points of the member."`
	Correct  int    `json:"correct" doc:"The number of matches with a correct pick."`
	Played   int    `json:"played" doc:"The number of scored events with a prediction."`
}

func newStanding(r ranking.Row) Standing {
	return Standing{
		Rank: r.Rank, Movement: r.Movement, UserID: r.UserID, Name: r.Name,
		Points: r.Points, Correct: r.Correct, Played: r.Played,
	}
}

// GetStandings is the request for the table of a year.
type GetStandings struct {
	auth.User
	Year   string `path:"year" pattern:"^[0-9]{4}$" doc:"The year of the events."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Cursor string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// StandingsScreen is the answer with a page of a table.
type StandingsScreen struct {
	Body struct {
		Count     int        `json:"count" doc:"The number of standings on all pages."`
		Standings []Standing `json:"standings" doc:"In order of rank, then by name. A page can have fewer than limit, also if others follow."`
		Mine      *Standing  `json:"mine,omitempty" doc:"The caller's standing. Absent if there is none."`
		Next      string     `json:"next,omitempty"`
	}
}

// GetStandingsFunction answers with the standings of a year.
func GetStandingsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-standings",
		Does:   "Returns the standings of a year, highest points first.",
		IfDown: "The table of all members does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/standings/{year}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetRanking},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenLeagues, (*Leagues).GetStandings, httpapi.ErrBadCursor, item.ErrNotMember)
}

// GetStandings returns a page of the table of all members, as the latest scoring has
// ranked it. A caller who is not a member gets not_a_member.
func (s *Leagues) GetStandings(ctx context.Context, in *GetStandings) (*StandingsScreen, error) {
	if err := item.CheckMember(ctx, s.Db, in.UserID); err != nil {
		return nil, err
	}

	t, err := ranking.Read(ctx, s.Db, in.Year, in.UserID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	return newScreen(t), nil
}

func newScreen(t ranking.Table) *StandingsScreen {
	out := &StandingsScreen{}

	out.Body.Count, out.Body.Standings, out.Body.Next = t.Count, make([]Standing, len(t.Rows)), t.Next
	for i, r := range t.Rows {
		out.Body.Standings[i] = newStanding(r)
	}

	if t.Mine != nil {
		mine := newStanding(*t.Mine)
		out.Body.Mine = &mine
	}

	return out
}

// GetLeagueStandings is the request for the table of a league in a year.
type GetLeagueStandings struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	Year     string `path:"year" pattern:"^[0-9]{4}$" doc:"The year of the events."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
	Cursor   string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// GetLeagueStandingsFunction answers with the standings of a league.
func GetLeagueStandingsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-league-standings",
		Does:   "Returns the standings of a league of the caller in a year.",
		IfDown: "The tables of leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}/standings/{year}"},
		Uses:   []spec.Access{tables.CheckMembership, tables.FindLeague, tables.GetRanking, tables.ReadLeague, tables.LeaguePoints},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenLeagues, (*Leagues).GetLeagueStandings, httpapi.ErrBadCursor, item.ErrNoLeague)
}

// GetLeagueStandings returns a page of the table of a league of the caller. If the tables of the
// league are stored, a page of 50 costs at most 4 units, and one of 100 a unit more, whatever the
// number of members: it is read as the latest scoring, or change of the members, has ranked it.
// Otherwise the league is ranked: see item.RankedOnRead. The points may be a moment old.
func (s *Leagues) GetLeagueStandings(ctx context.Context, in *GetLeagueStandings) (*StandingsScreen, error) {
	stored, err := item.HasStoredTables(ctx, s.Db, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	if stored {
		t, err := ranking.ReadMore(ctx, s.Db, item.TableScope(in.LeagueID, in.Year), in.UserID, in.Cursor, in.Limit)
		if err != nil {
			return nil, err
		}

		return newScreen(t), nil
	}

	_, members, err := item.ReadLeague(ctx, s.Db, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	keys := make([]dynamo.Item, len(members))
	for i, m := range members {
		keys[i] = item.StandingKey(m.UserID(), in.Year).Key()
	}

	all, err := dynamo.GetAll[item.Standing](ctx, s.Db.Eventual(), tables.LeaguePoints, keys)
	if err != nil {
		return nil, err
	}

	t := ranking.Of(score.RankStandings(all, item.NamesOf(members)), in.UserID)
	t.Rows, t.Next, err = httpapi.Page(t.Rows, func(r ranking.Row) string { return r.UserID }, in.Cursor, in.Limit)

	return newScreen(t), err
}

// GetLeagueResults is the request for the table of a league in an event.
type GetLeagueResults struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	EventID  string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Limit    int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Cursor   string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// LeagueResults is the answer with a page of the table of a league in an event.
type LeagueResults struct {
	Body struct {
		Count   int           `json:"count" doc:"The number of entries on all pages."`
		Entries []score.Entry `json:"entries" doc:"Those of the members of the league, ranked among them. By points, highest first, then by correct picks, then by name; by name until the event is scored."`
		Mine    *score.Entry  `json:"mine,omitempty" doc:"The caller's entry. Absent if there is none."`
		Next    string        `json:"next,omitempty"`
	}
}

// GetLeagueResultsFunction answers with the scores of an event in a league.
func GetLeagueResultsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-league-results",
		Does:   "Returns the scores of an event in a league of the caller.",
		IfDown: "The results of events in leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}/events/{eventId}"},
		Uses: []spec.Access{tables.CheckMembership, tables.FindLeague, tables.GetRanking, tables.ReadLeague, tables.GetCard,
			tables.LeaguePoints},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenLeagues, (*Leagues).GetLeagueResults,
		httpapi.ErrBadCursor, item.ErrNoEvent, item.ErrNoLeague, item.ErrNotScored)
}

// GetLeagueResults returns a page of the picks and points of an event, of the members of a league
// of the caller. It returns event_not_scored while GetResults does. It costs what GetLeagueStandings
// does, and the event with its card. Picks and points may be a moment old.
func (s *Leagues) GetLeagueResults(ctx context.Context, in *GetLeagueResults) (*LeagueResults, error) {
	stored, err := item.HasStoredTables(ctx, s.Db, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	on, err := item.ReadVisible(ctx, s.Db, in.EventID, s.Now())
	if err != nil {
		return nil, err
	}

	if stored {
		t, err := ranking.Read(ctx, s.Db, item.TableScope(in.LeagueID, on.ID), in.UserID, in.Cursor, in.Limit)
		if err != nil {
			return nil, err
		}

		out := &LeagueResults{}
		out.Body.Count, out.Body.Next, out.Body.Entries = t.Count, t.Next, make([]score.Entry, len(t.Rows))

		for i, r := range t.Rows {
			out.Body.Entries[i] = score.NewEntry(on.Event, on.Card, t.Card, r)
		}

		if t.Mine != nil {
			mine := score.NewEntry(on.Event, on.Card, t.Card, *t.Mine)
			out.Body.Mine = &mine
		}

		return out, nil
	}

	_, members, err := item.ReadLeague(ctx, s.Db, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	keys := make([]dynamo.Item, len(members))
	for i, m := range members {
		keys[i] = item.PredictionKey(m.UserID(), on.ID)
	}

	all, err := dynamo.GetAll[item.Prediction](ctx, s.Db.Eventual(), tables.LeaguePoints, keys)
	if err != nil {
		return nil, err
	}

	rows := score.RankEntries(on.Event, on.Card, all, item.NamesOf(members))
	out := &LeagueResults{}
	out.Body.Count = len(rows)

	entries := make([]score.Entry, len(rows))
	for i, r := range rows {
		entries[i] = score.NewEntry(on.Event, on.Card, score.CardIDs(on.Card), r)
		if r.UserID == in.UserID {
			out.Body.Mine = &entries[i]
		}
	}

	out.Body.Entries, out.Body.Next, err = httpapi.Page(entries, func(e score.Entry) string { return e.UserID }, in.Cursor, in.Limit)

	return out, err
}
