package league

import (
	"time"

	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	GetStandingsFunction = spec.Function{
		Name:   "pickem/get-standings",
		Does:   "The standings of a year, the highest first.",
		IfDown: "The league table does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/standings/{year}"},
		Uses:   []spec.Access{tables.GetStandings},
		Memory: 512, Timeout: 5 * time.Second,
	}
)

// The leagues of members.
var (
	CreateLeagueFunction = spec.Function{
		Name:   "pickem/create-league",
		Does:   "Makes a league of the caller's, with a code that invites to it.",
		IfDown: "Nobody can make a league.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues"},
		Uses:   []spec.Access{tables.GetMember, tables.CreateLeague},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListLeaguesFunction = spec.Function{
		Name:   "pickem/list-leagues",
		Does:   "The leagues of the caller.",
		IfDown: "The list of leagues does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues"},
		Uses:   []spec.Access{tables.MyLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}
	JoinLeagueFunction = spec.Function{
		Name:   "pickem/join-league",
		Does:   "Makes the caller a member of the league that a code invites to.",
		IfDown: "Nobody can join a league.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/join"},
		Uses:   []spec.Access{tables.FindLeague, tables.GetMember, tables.JoinLeague},
		Memory: 256, Timeout: 10 * time.Second,
	}
	GetLeagueFunction = spec.Function{
		Name:   "pickem/get-league",
		Does:   "A league of the caller's with its members.",
		IfDown: "The members of leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.CheckMembership, tables.LeagueMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetLeagueStandingsFunction = spec.Function{
		Name:   "pickem/get-league-standings",
		Does:   "The standings of a league of the caller's in a year.",
		IfDown: "The tables of leagues do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}/standings/{year}"},
		Uses:   []spec.Access{tables.CheckMembership, tables.LeagueStandings},
		Memory: 256, Timeout: 5 * time.Second,
	}
	LeaveLeagueFunction = spec.Function{
		Name:   "pickem/leave-league",
		Does:   "Takes the caller, or another by its owner's will, out of a league.",
		IfDown: "Nobody can leave a league.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}/members/{userId}"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.RenewCode, tables.LeagueRoster, tables.GetMember, tables.LeaveLeague},
		Memory: 256, Timeout: 10 * time.Second,
	}
	RenewCodeFunction = spec.Function{
		Name:   "pickem/renew-code",
		Does:   "Gives a league of the caller's a new code; the old invites nobody any more.",
		IfDown: "A code that got about cannot be taken back.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/{leagueId}/code"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.RenewCode},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteLeagueFunction = spec.Function{
		Name:   "pickem/delete-league",
		Does:   "Ends a league of the caller's.",
		IfDown: "Nobody can end a league.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.EndLeague, tables.LeagueRoster, tables.GetMember, tables.LeaveLeague},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
)
