package public

import (
	"context"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// Sizes of the page of a league. Its seasons are at most season.MaxSeasons.
const (
	leagueGames   = 6
	leagueScorers = 5
)

// ShowLeague is the request for the page of a league.
type ShowLeague struct {
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
}

// ShowLeagueFunction returns the page of a league.
func ShowLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-league-page",
		Does:   "Shows the seasons of a league in a browser, with the tables and the next games of the latest.",
		IfDown: "The public page of a league does not open.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}", Auth: spec.Public, OthersCall: true},
		Uses: []spec.Access{tables.FindSlug, tables.GetLeague, tables.ListSeasons, tables.ListSessions,
			tables.ReadTables, tables.ReadDays},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowLeague, ErrNotFound)
}

// ShowLeague returns the page of a league: its seasons, the newest first, and of the newest the next
// session and games, the standings and the best scorers. Its reads do not grow with the number of games
// and players; seasons and sessions are at most season.MaxSeasons and season.MaxSessions.
func (s *Pages) ShowLeague(ctx context.Context, in *ShowLeague) (*web.Page, error) {
	l, err := s.league(ctx, in.League)
	if err != nil {
		return nil, err
	}

	rows, err := list[item.Season](ctx, s.db, tables.ListSeasons, item.LeagueKey(l.ID), item.Seasons)
	if err != nil {
		return nil, err
	}

	h := web.Head{
		Title: l.Name + " · 3FC", About: "Seasons, games, standings and scorers of " + isolated(l.Name) + ".",
		URL: s.url(l), Site: l.Name,
	}
	data := map[string]any{"League": l.Name}

	seasons := item.Values(rows)
	if len(seasons) == 0 {
		return s.page("league", l, h, nil, data), nil
	}

	slices.Reverse(seasons) // ids are in the order of creation

	colors, err := s.latest(ctx, l, seasons[0], data)
	if err != nil {
		return nil, err
	}

	var all []shownSeason
	for _, x := range seasons {
		all = append(all, shownSeason{s.url(l, x.Slug), x.Name})
	}

	data["Seasons"] = all

	return s.page("league", l, h, colors, data), nil
}

// shownSeason is a season in a list.
type shownSeason struct{ URL, Name string }

// latest adds a season to the data of the page of its league, and returns the colors of its teams.
func (s *Pages) latest(ctx context.Context, l item.League, x item.Season, data map[string]any) (colors []string, err error) {
	teams, err := s.standings(ctx, x.ID)
	if err != nil {
		return nil, err
	}

	scorers, err := s.leaders(ctx, x.ID, leagueScorers)
	if err != nil {
		return nil, err
	}

	pk := item.SeasonKey(x.ID)

	sessions, err := list[item.Session](ctx, s.db, tables.ListSessions, pk, item.Sessions)
	if err != nil {
		return nil, err
	}

	now := item.Games + item.Format(s.now())

	next, err := s.games(ctx, dynamo.Range{Key: dynamo.KeyBetween(tables.ReadDays, pk, now, item.Games+"~"), Limit: leagueGames})
	if err != nil {
		return nil, err
	}

	past, err := s.games(ctx, dynamo.Range{
		Key: dynamo.KeyBetween(tables.ReadDays, pk, item.Games, now), Backward: true, Limit: leagueGames,
	})
	if err != nil {
		return nil, err
	}

	live, next, past := sorted(past, next, s.now())
	for _, g := range slices.Concat(live, next, past) {
		for _, t := range g.Teams {
			colors = append(colors, t.Color)
		}
	}

	var places []place

	for _, t := range teams {
		colors = append(colors, t.Color)
		places = append(places, place{t, show(t.Name, t.Color)})
	}

	url := s.url(l, x.Slug)
	data["Latest"] = shownSeason{url, x.Name}
	data["Standings"], data["Order"] = places, orderOf(x)
	data["Leaders"] = slices.DeleteFunc(scorers, func(p standing.PlayerTotals) bool { return p.Goals == 0 })
	data["Live"], data["Next"], data["Past"] = s.days(url, x, live), s.days(url, x, next), s.days(url, x, past)
	data["Session"] = nextSession(item.Values(sessions), s.now().In(zone(x)), past, slices.Concat(live, next))
	data["Calendar"], data["Zone"] = s.calendarURL(l, x), x.TimeZone

	return colors, nil
}

// nextSession returns the day of the first session from today on, nil if there is none. That of today counts
// until its games are over.
func nextSession(all []item.Session, now time.Time, over, left []item.Listing) *moment {
	on := func(games []item.Listing, date string) bool {
		return slices.ContainsFunc(games, func(g item.Listing) bool {
			return item.Parse(g.StartTs).In(now.Location()).Format(time.DateOnly) == date
		})
	}

	today, next := now.Format(time.DateOnly), ""

	for _, x := range all {
		done := x.Date == today && on(over, today) && !on(left, today)
		if x.Date >= today && !done && (next == "" || x.Date < next) {
			next = x.Date
		}
	}

	if next == "" {
		return nil
	}

	return &moment{next, web.DayOf(next)}
}
