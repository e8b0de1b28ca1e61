package tournament

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// reader is a function that members read with.
func reader(name, does, down, path string) spec.Function {
	return spec.Function{
		Name: "bestshot/" + name, Does: does, IfDown: down, On: spec.Route{Method: "GET", Path: "/api/v2" + path, Auth: spec.User},
		SQL: []spec.SQLLogin{tables.Reader}, Caches: []spec.CacheLogin{tables.CacheUser}, Memory: 256, Timeout: 15 * time.Second, Reserved: 12,
	}
}

// The functions.
var (
	ListTournamentsFunction = reader("list-tournaments", "Returns the tournaments.", "Members find no tournament.", "/tournaments")
	GetTournamentFunction   = reader("get-tournament", "Returns a tournament with its rule.", "Members do not see what a guess earns.", "/tournaments/{tournamentId}")
	ListRoundsFunction      = reader("list-rounds", "Returns the rounds of a tournament with their winners.", "Members find no round.", "/tournaments/{tournamentId}/rounds")
	ListMatchesFunction     = reader("list-matches", "Returns the matches of a round.", "Members see no matches.", "/tournaments/{tournamentId}/matches/{roundSlug}")
	ListStandingsFunction   = reader("list-standings", "Returns the standings of a tournament.", "Members see no standings.", "/tournaments/{tournamentId}/standings")
	ListTeamsFunction       = reader("list-teams", "Returns the teams of a tournament with their badges.", "Members see no badges.", "/tournaments/{tournamentId}/teams")
	ListLeaderboardFunction = reader("list-leaderboard", "Returns a page of the leaderboard.", "Members see no leaderboard.", "/tournaments/{tournamentId}/leaderboard")
	GetDashboardFunction    = reader("get-dashboard", "Returns the matches of a day.", "Members do not see today's matches.", "/dashboard")
)
