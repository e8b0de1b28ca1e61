package league

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	GetStandingsFunction = spec.Function{
		Name:   "pickem/get-standings",
		Does:   "Returns the standings of a year, highest points first.",
		IfDown: "The table of all members does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/standings/{year}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetRanking},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// The leagues of members.
var (
	CreateLeagueFunction = spec.Function{
		Name:   "pickem/create-league",
		Does:   "Creates a league, owned by the caller, with an invitation code.",
		IfDown: "Members cannot create leagues.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues", Answers: []int{201}},
		Uses:   []spec.Access{tables.GetMember, tables.CreateLeague, account.CheckDeleted},
		Limits: []spec.Limit{maxLeagues},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListLeaguesFunction = spec.Function{
		Name:   "pickem/list-leagues",
		Does:   "Lists the leagues of the caller.",
		IfDown: "The list of leagues does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues"},
		Uses:   []spec.Access{tables.MyLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}
	JoinLeagueFunction = spec.Function{
		Name:   "pickem/join-league",
		Does:   "Makes the caller a member of the league with the given code.",
		IfDown: "Members cannot join leagues.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/join"},
		Uses:   []spec.Access{tables.TryCode, tables.FindLeague, tables.GetMember, tables.JoinLeague, account.CheckDeleted},
		Limits: []spec.Limit{maxLeagues, maxMembers, maxCodes},
		Memory: 256, Timeout: 10 * time.Second,
	}
	GetLeagueFunction = spec.Function{
		Name:   "pickem/get-league",
		Does:   "Returns a league of the caller with its members.",
		IfDown: "League pages do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.ReadLeague},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetLeagueStandingsFunction = spec.Function{
		Name:   "pickem/get-league-standings",
		Does:   "Returns the standings of a league of the caller in a year.",
		IfDown: "The tables of leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}/standings/{year}"},
		Uses:   []spec.Access{tables.ReadLeague, tables.LeaguePoints},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetLeagueResultsFunction = spec.Function{
		Name:   "pickem/get-league-results",
		Does:   "Returns the scores of an event in a league of the caller.",
		IfDown: "The results of events in leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}/events/{eventId}"},
		Uses:   []spec.Access{tables.ReadLeague, tables.GetCard, tables.LeaguePoints},
		Memory: 256, Timeout: 5 * time.Second,
	}
	LeaveLeagueFunction = spec.Function{
		Name:   "pickem/leave-league",
		Does:   "Removes the caller from a league. The owner can also remove another member.",
		IfDown: "Members cannot leave leagues, and owners cannot remove members.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}/members/{userId}"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.ReadLeague, tables.LeaveLeague, tables.EndLeague, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}
	RenewCodeFunction = spec.Function{
		Name:   "pickem/renew-code",
		Does:   "Replaces the code of a league that the caller owns. The old code becomes invalid.",
		IfDown: "Owners cannot invalidate a code that has leaked.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/{leagueId}/code"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.RenewCode, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteLeagueFunction = spec.Function{
		Name:   "pickem/delete-league",
		Does:   "Deletes a league that the caller owns.",
		IfDown: "Owners cannot delete leagues.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.EndLeague, tables.ReadLeague, account.CheckDeleted},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
)
