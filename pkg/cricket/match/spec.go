package match

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// The API.
var (
	GetMatchFunction = spec.Function{
		Name:   "cricket/get-match",
		Does:   "Returns one match with its full score.",
		IfDown: "Match pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.EnrichCached, tables.GetTeam, tables.GetLeague, tables.TeamsOfSeason},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	ListMatchesFunction = spec.Function{
		Name:   "cricket/list-matches",
		Does:   "Lists matches by id, or the matches of a league, optionally between two dates.",
		IfDown: "The match list does not load.",
		On:     spec.Route{Method: "GET", Path: "/matches", Auth: spec.Public, Queries: []string{"cursor", "from", "ids", "league", "limit", "to"}},
		Uses:   []spec.Access{tables.BatchGetFixtures, tables.BatchGetCached, tables.FixturesByDate, tables.CachedByLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	GetDisplayFunction = spec.Function{
		Name:   "cricket/get-display",
		Does:   "Returns the display of a match on a lock screen, for the fans of a team or neutral.",
		IfDown: "A new activity shows no score until the next ball.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/display", Auth: spec.Public, Queries: []string{"team"}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.PutDisplay},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	ListBallsFunction = spec.Function{
		Name:   "cricket/list-balls",
		Does:   "Lists the balls of a match in the order of play.",
		IfDown: "The ball-by-ball page does not load.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/balls", Auth: spec.Public, Queries: []string{"after", "cursor", "innings"}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetProcessed, tables.Hydrate},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)

var (
	ListLeagueMatchesFunction = spec.Function{
		Name:   "cricket/list-league-matches",
		Does:   "Lists all matches of a league by a scan of the table.",
		IfDown: "Administrators cannot list all matches of a league.",
		On:     spec.Route{Method: "GET", Path: "/admin/matches", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ScanByLeague},
		Memory: 256, Timeout: 15 * time.Second,
	}
)
