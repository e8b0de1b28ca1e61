package league

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

var checked = []spec.Access{account.CheckDeleted}

// own is a function for the caller's leagues.
func own(name, does, down, method, path string, uses []spec.Access, limits []spec.Limit, answers ...int) spec.Function {
	return spec.Function{
		Name: "bestshot/" + name, Does: does, IfDown: down, On: spec.Route{Method: method, Path: "/api/v2/leagues" + path, Auth: spec.User, Answers: answers},
		Uses: uses, Limits: limits, SQL: []spec.SQLLogin{tables.Player}, Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}
}

// The functions.
var (
	CreateLeagueFunction     = own("create-league", "Creates a league of the caller.", "Nobody can create a league.", "POST", "", checked, []spec.Limit{maxLeagues}, 201)
	ListLeaguesFunction      = own("list-leagues", "Returns the caller's leagues.", "Members do not see their leagues.", "GET", "", nil, nil)
	GetLeagueFunction        = own("get-league", "Returns a league of the caller.", "Members do not see a league.", "GET", "/{leagueId}", nil, nil)
	JoinLeagueFunction       = own("join-league", "Makes the caller a member of the league with a code.", "Nobody can join a league.", "POST", "/invitation", checked, []spec.Limit{maxLeagues, maxMembers, maxCodes})
	PatchTournamentsFunction = own("patch-tournaments", "Changes the tournaments that a league follows.", "A league follows the tournaments of before.", "PATCH", "/{leagueId}/tournaments", checked, nil)
	LeaveLeagueFunction      = own("leave-league", "Ends the caller's membership in a league.", "Nobody can leave a league.", "DELETE", "/{leagueId}/membership", nil, nil)

	GetScoreFunction = spec.Function{
		Name:   "bestshot/get-league-score",
		Does:   "Returns a page of the table of a league.",
		IfDown: "Members do not see the tables of their leagues.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/leagues/{leagueId}/score", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader}, Caches: []spec.CacheLogin{tables.CacheUser},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}
)
