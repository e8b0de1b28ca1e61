package public

import (
	"time"

	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// shows returns a function of a public route.
func shows(name, does, ifDown, path string, queries []string, uses ...spec.Access) spec.Function {
	return spec.Function{
		Name: "threefc/" + name, Does: does, IfDown: ifDown,
		On:     spec.Route{Method: "GET", Path: path, Auth: spec.Public, Queries: queries},
		Uses:   uses,
		Memory: 256, Timeout: 5 * time.Second,
	}
}

// The functions.
var (
	GetGameFunction = shows("show-game", "Returns a game to everybody.", "The app shows no game to people who are not signed in.",
		"/v1/public/leagues/{league}/seasons/{season}/games/{game}", nil, tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame)
	GetTimelineFunction = shows("show-timeline", "Returns the goals of a game to everybody.", "The app shows no timeline to people who are not signed in.",
		"/v1/public/leagues/{league}/seasons/{season}/games/{game}/timeline", nil, tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames)
	GetStandingsFunction = shows("show-standings", "Returns the standings of a season to everybody.", "The app shows no standings.",
		"/v1/public/seasons/{seasonId}/standings", nil, tables.ReadTables)
	GetLeadersFunction = shows("show-leaders", "Returns the players of a season who have scored most to everybody.", "The app shows no leaders.",
		"/v1/public/seasons/{seasonId}/leaderboards/players", []string{"limit"}, tables.ReadTables)
	// Calendar comes before the page of a game, whose path is that of any name.
	ShowCalendarFunction = shows("show-calendar", "Returns the games of a season to calendar apps.", "Calendars do not follow the games.",
		"/l/{league}/{season}/calendar.ics", nil, tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadCalendar)
	ShowSeasonFunction = shows("show-season-page", "Shows the standings, the scorers and the games of a season in a browser.", "The public page of a season does not open.",
		"/l/{league}/{season}", []string{"cursor"}, tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadTables, tables.ReadDays)
	ShowGameFunction = shows("show-game-page", "Shows the score and the goals of a game in a browser.", "The public page of a game does not open.",
		"/l/{league}/{season}/{game}", nil, tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames)
)
