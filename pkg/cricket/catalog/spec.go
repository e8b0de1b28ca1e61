package catalog

import (
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// The syncs.
var (
	SyncLeaguesFunction = spec.Function{
		Name:   "cricket/sync-leagues",
		Does:   "Copies the leagues from the provider.",
		IfDown: "New leagues are missing.",
		On:     spec.Schedule("cron(10 3 * * ? *)"),
		Uses:   []spec.Access{tables.AllLeagues, tables.PutLeague, tables.UpdateLeague}, Secrets: []string{tables.SportMonksToken},
		Memory: 128, Timeout: tables.JobTimeout,
	}

	SyncTeamsFunction = spec.Function{
		Name:   "cricket/sync-teams",
		Does:   "Copies the teams, and the teams of each current season, from the provider.",
		IfDown: "New teams are missing from the team list.",
		On:     spec.Schedule("cron(20 3 * * ? *)"),
		Uses:   []spec.Access{tables.AllTeams, tables.BatchPutTeams, tables.UpdateTeam, tables.ActiveLeagues, tables.FixturesByDate, tables.TeamsOfSeason, tables.PutSeasonTeams}, Secrets: []string{tables.SportMonksToken},
		Memory: 128, Timeout: tables.JobTimeout,
	}
)

// Leagues and teams.
var (
	ListTeamsFunction = spec.Function{
		Name:   "cricket/list-teams",
		Does:   "Lists all teams in order of title.",
		IfDown: "The team list does not load.",
		On:     spec.Route{Method: "GET", Path: "/teams", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.AllTeams},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	GetTeamFunction = spec.Function{
		Name:   "cricket/get-team",
		Does:   "Returns one team.",
		IfDown: "Team pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/teams/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetTeam},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	UpdateTeamFunction = spec.Function{
		Name:   "cricket/update-team",
		Does:   "Changes the title, short name or color of a team.",
		IfDown: "Administrators cannot change teams.",
		On:     spec.Route{Method: "PATCH", Path: "/teams/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.UpdateTeam, tables.GetTeam},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	ListSeasonTeamsFunction = spec.Function{
		Name:   "cricket/list-season-teams",
		Does:   "Lists the teams of a season.",
		IfDown: "Season pages show no teams.",
		On:     spec.Route{Method: "GET", Path: "/seasons/{id}/teams", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.TeamsOfSeason},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	ListLeaguesFunction = spec.Function{
		Name:   "cricket/list-leagues",
		Does:   "Lists all leagues, highest priority first.",
		IfDown: "The league list does not load.",
		On:     spec.Route{Method: "GET", Path: "/leagues", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.AllLeagues},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	GetLeagueFunction = spec.Function{
		Name:   "cricket/get-league",
		Does:   "Returns one league.",
		IfDown: "League pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/leagues/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	UpdateLeagueFunction = spec.Function{
		Name:   "cricket/update-league",
		Does:   "Changes the title or priority of a league, or sets whether its matches are polled and told of.",
		IfDown: "Administrators cannot change leagues.",
		On:     spec.Route{Method: "PATCH", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.UpdateLeague, tables.GetLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}

	DeleteLeagueFunction = spec.Function{
		Name:   "cricket/delete-league",
		Does:   "Deletes a league that the provider no longer lists.",
		IfDown: "Administrators cannot delete leagues.",
		On:     spec.Route{Method: "DELETE", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.DeleteLeague},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)
