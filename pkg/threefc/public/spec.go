package public

import (
	"time"

	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// The functions.
var (
	GetGameFunction = spec.Function{
		Name:   "threefc/show-game",
		Does:   "Returns a game to everybody.",
		IfDown: "The app shows no game to people who are not signed in.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/leagues/{league}/seasons/{season}/games/{game}", Auth: spec.Public},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetTimelineFunction = spec.Function{
		Name:   "threefc/show-timeline",
		Does:   "Returns the goals of a game to everybody.",
		IfDown: "The app shows no timeline to people who are not signed in.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/leagues/{league}/seasons/{season}/games/{game}/timeline", Auth: spec.Public},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetStandingsFunction = spec.Function{
		Name:   "threefc/show-standings",
		Does:   "Returns the standings of a season to everybody.",
		IfDown: "The app shows no standings.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/seasons/{seasonId}/standings", Auth: spec.Public},
		Uses:   []spec.Access{tables.ReadTables, tables.GetSeason},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetLeadersFunction = spec.Function{
		Name:   "threefc/show-leaders",
		Does:   "Returns the players of a season who have scored most to everybody.",
		IfDown: "The app shows no leaders.",
		On:     spec.Route{Method: "GET", Path: "/v1/public/seasons/{seasonId}/leaderboards/players", Auth: spec.Public, Queries: []string{"limit"}},
		Uses:   []spec.Access{tables.ReadTables, tables.GetSeason},
		Memory: 256, Timeout: 5 * time.Second,
	}
	// Calendar comes before the page of a game, whose path is that of any name.
	ShowCalendarFunction = spec.Function{
		Name:   "threefc/show-calendar",
		Does:   "Returns the games of a season to calendar apps.",
		IfDown: "Calendars do not follow the games.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}/calendar.ics", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadCalendar},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ShowSeasonFunction = spec.Function{
		Name:   "threefc/show-season-page",
		Does:   "Shows the standings, the scorers and the games of a season in a browser.",
		IfDown: "The public page of a season does not open.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}", Auth: spec.Public, OthersCall: true, Queries: []string{"cursor"}},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadTables, tables.ReadDays},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ShowGameFunction = spec.Function{
		Name:   "threefc/show-game-page",
		Does:   "Shows the score and the goals of a game in a browser.",
		IfDown: "The public page of a game does not open.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}/{game}", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames},
		Memory: 256, Timeout: 5 * time.Second,
	}
)
