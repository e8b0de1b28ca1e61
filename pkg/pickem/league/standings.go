package league

import (
	"context"
	"slices"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// RankStandings ranks the standings of a year, highest first. Movement is the change of
// rank by the latest event that any member has points of.
func RankStandings(rows []item.Standing) []Standing {
	last := ""
	for _, r := range rows {
		last = max(last, r.LastEvent)
	}
	before := func(r item.Standing) int {
		if r.LastEvent == last {
			return r.Points - r.LastPoints
		}
		return r.Points
	}
	name := func(r item.Standing) string { return r.Name }
	var old []item.Standing
	for _, r := range rows {
		if r.Played > 1 || r.LastEvent != last {
			old = append(old, r)
		}
	}
	was := map[string]int{}
	ranks := score.Rank(old, before, name, item.Standing.UserID)
	for i, r := range old {
		was[r.UserID()] = ranks[i]
	}
	ranks = score.Rank(rows, func(r item.Standing) int { return r.Points }, name, item.Standing.UserID)
	out := make([]Standing, len(rows))
	for i, r := range rows {
		out[i] = Standing{Rank: ranks[i], UserID: r.UserID(), Name: r.Name, Points: r.Points, Correct: r.Correct, Played: r.Played}
		if rank, ok := was[r.UserID()]; ok {
			up := rank - ranks[i]
			out[i].Movement = &up
		}
	}
	return out
}

// Standing is a member's rank in a table.
type Standing struct {
	Rank     int    `json:"rank" doc:"From 1. Members with equal points have the same rank; the next lower points have the next rank."`
	Movement *int   `json:"movement,omitempty" doc:"The number of ranks gained by the latest event, negative for lost ranks. Absent for members without a rank before."`
	UserID   string `json:"userId" doc:"The id of the member."`
	Name     string `json:"name" doc:"The display name of the member."`
	Points   int    `json:"points" doc:"The points of the member."`
	Correct  int    `json:"correct" doc:"The number of matches with a correct pick."`
	Played   int    `json:"played" doc:"The number of scored events with a prediction."`
}

// GetStandings is the request for the table of a year.
type GetStandings struct {
	auth.User
	Year   string `path:"year" pattern:"^[0-9]{4}$" doc:"The year of the events."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// StandingsScreen is the answer with a page of a table.
type StandingsScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Count     int        `json:"count" doc:"The number of standings on all pages."`
		Standings []Standing `json:"standings" doc:"By points, highest first, then by name."`
		Mine      *Standing  `json:"mine,omitempty" doc:"The caller's standing. Absent if there is none."`
		Next      string     `json:"next,omitempty"`
	}
}

// GetStandings returns a page of the table of all members. Ranks and movement need all
// rows, so one query reads them all and the page is cut here.
func (s *Leagues) GetStandings(ctx context.Context, in *GetStandings) (*StandingsScreen, error) {
	rows, err := dynamo.QueryAll[item.Standing](ctx, s.Db, tables.GetStandings, dynamo.Range{Key: dynamo.KeyIs(tables.GetStandings, item.StandingsRef(in.Year)), Backward: true})
	if err != nil {
		return nil, err
	}
	return standingsPage(rows, in.UserID, in.Cursor, in.Limit)
}

func standingsPage(rows []item.Standing, userID, cursor string, limit int) (*StandingsScreen, error) {
	all := RankStandings(rows)
	id := func(s Standing) string { return s.UserID }
	out := &StandingsScreen{CacheControl: httpapi.NoStore}
	out.Body.Count = len(all)
	if i := slices.IndexFunc(all, func(s Standing) bool { return s.UserID == userID }); i >= 0 {
		out.Body.Mine = &all[i]
	}
	var err error
	out.Body.Standings, out.Body.Next, err = httpapi.Page(all, id, cursor, limit)
	return out, err
}
