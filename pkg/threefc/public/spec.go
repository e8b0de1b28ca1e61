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
)
