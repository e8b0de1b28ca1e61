package pickem

import (
	"context"
	"slices"
	"strings"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
)

const standingType = "standings"

// standing is the item of a member's points of a year, among all or in a league.
type standing struct {
	row
	BelongsTo string `dynamodbav:"belongsto"`
	Name      string `dynamodbav:"name"`
	tally
}

func (s standing) userID() string { return strings.TrimPrefix(s.BelongsTo, "USER#") }

// of is whose points they are compared with: those of a year's events, among the
// members of a league, or of all for "".
func (s standing) of() (year, leagueID string) {
	year, leagueID, _ = strings.Cut(strings.TrimPrefix(s.SK, ofYear("")), "#")
	return year, leagueID
}

// Standing is a member's place in a table.
type Standing struct {
	Rank     int    `json:"rank" doc:"Dense: members with as many points have the same, and the next have the one after it."`
	Movement *int   `json:"movement,omitempty" doc:"How many ranks it went up with the last event; absent for who was not there before."`
	UserID   string `json:"userId"`
	Name     string `json:"name"`
	Points   int    `json:"points"`
	Correct  int    `json:"correct" doc:"Matches picked right."`
	Played   int    `json:"played" doc:"Events played."`
}

// GetStandings asks for the table of a year.
type GetStandings struct {
	auth.User
	Year   string `path:"year" pattern:"^[0-9]{4}$" doc:"The year of the events."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor string `query:"cursor" maxLength:"128" doc:"Next of the page before."`
}

// StandingsScreen is the answer with a page of a table.
type StandingsScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Count     int        `json:"count" doc:"How many are in the table."`
		Standings []Standing `json:"standings" doc:"The highest first, then by name."`
		Mine      *Standing  `json:"mine,omitempty" doc:"The caller's own."`
		Next      string     `json:"next,omitempty"`
	}
}

// GetStandings returns the table of all members. Ranks and movement need the whole
// of it: it is read with one query, which is cut into pages here.
func (s *Events) GetStandings(ctx context.Context, in *GetStandings) (*StandingsScreen, error) {
	rows, err := dynamo.QueryAll[standing](ctx, s.db, getStandings, dynamo.Range{Key: partition(getStandings, ofYear(in.Year)), Backward: true})
	if err != nil {
		return nil, err
	}
	return standingsPage(rows, in.UserID, in.Cursor, in.Limit)
}

func standingsPage(rows []standing, userID, cursor string, limit int) (*StandingsScreen, error) {
	all := rankStandings(rows)
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
