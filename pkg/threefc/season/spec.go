package season

import (
	"net/http"
	"time"

	"matchday/pkg/spec"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// Limits of seasons.
var (
	MaxSeasons  = spec.Limit{Name: "seasons per league", Max: 50, Code: "too_many_seasons"}
	MaxTeams    = spec.Limit{Name: "teams per season", Max: 12, Code: "too_many_teams"}
	MaxSessions = spec.Limit{Name: "sessions per season", Max: 120, Code: "too_many_sessions"}
	// MaxOfDay bounds the reminders that a user gets of a season on one day.
	MaxOfDay = spec.Limit{Name: "sessions per season and day", Max: 10, Code: "too_many_sessions_of_day"}
)

// The functions.
var (
	CreateSeasonFunction = spec.Function{
		Name:   "threefc/create-season",
		Does:   "Creates a season of a league.",
		IfDown: "No season can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/seasons", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.CreateSeason), Limits: []spec.Limit{MaxSeasons},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListSeasonsFunction = spec.Function{
		Name:   "threefc/list-seasons",
		Does:   "Returns the seasons of a league.",
		IfDown: "The app shows no seasons.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/seasons", Auth: spec.Session},
		Uses:   league.Reads(tables.ListSeasons),
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetSeasonFunction = spec.Function{
		Name:   "threefc/get-season",
		Does:   "Returns a season.",
		IfDown: "The app does not show a season.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason),
		Memory: 256, Timeout: 5 * time.Second,
	}
	UpdateSeasonFunction = spec.Function{
		Name:   "threefc/update-season",
		Does:   "Changes the name, the slug, the dates or the time zone of a season.",
		IfDown: "A season cannot be changed.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.SaveSeason),
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteSeasonFunction = spec.Function{
		Name:   "threefc/delete-season",
		Does:   "Deletes a season without sessions.",
		IfDown: "A season cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/seasons/{seasonId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetLeague, tables.GetSeason, tables.SaveSeason, tables.DropSeason),
		Memory: 256, Timeout: 5 * time.Second,
	}
	CopySeasonFunction = spec.Function{
		Name:   "threefc/copy-season",
		Does:   "Creates the next season of a league, with the teams of another.",
		IfDown: "Teams must be entered again for a new season.",
		On:     spec.Route{Method: "POST", Path: "/v1/seasons/{seasonId}/copy", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.GetSeason, tables.ListTeams, tables.CreateSeason), Limits: []spec.Limit{MaxSeasons},
		Memory: 256, Timeout: 5 * time.Second,
	}
	PutTeamFunction = spec.Function{
		Name:   "threefc/put-team",
		Does:   "Creates or changes a team of a season.",
		IfDown: "Teams cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/seasons/{seasonId}/teams/{teamId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.PutTeam), Limits: []spec.Limit{MaxTeams},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListTeamsFunction = spec.Function{
		Name:   "threefc/list-teams",
		Does:   "Returns the teams of a season.",
		IfDown: "The app shows no teams.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}/teams", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason, tables.ListTeams),
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteTeamFunction = spec.Function{
		Name:   "threefc/delete-team",
		Does:   "Deletes a team of a season. Games keep it.",
		IfDown: "Teams cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/seasons/{seasonId}/teams/{teamId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.PutTeam),
		Memory: 256, Timeout: 5 * time.Second,
	}
	CreateSessionFunction = spec.Function{
		Name:   "threefc/create-session",
		Does:   "Creates a session of a season: a day on which games are played.",
		IfDown: "No session can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/seasons/{seasonId}/sessions", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetSeason, tables.ListSessions, tables.CreateSession), Limits: []spec.Limit{MaxSessions, MaxOfDay},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListSessionsFunction = spec.Function{
		Name:   "threefc/list-sessions",
		Does:   "Returns the sessions of a season.",
		IfDown: "The app shows no sessions.",
		On:     spec.Route{Method: "GET", Path: "/v1/seasons/{seasonId}/sessions", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSeason, tables.ListSessions),
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteSessionFunction = spec.Function{
		Name:   "threefc/delete-session",
		Does:   "Deletes a session without games.",
		IfDown: "A session cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/sessions/{sessionId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSession, tables.GetSeason, tables.DropSession),
		Memory: 256, Timeout: 5 * time.Second,
	}
)
