package game

import (
	"net/http"
	"time"

	"matchday/pkg/spec"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// Limits of games.
var (
	MaxGames   = spec.Limit{Name: "games per session", Max: 30, Code: "too_many_games"}
	MaxGoals   = spec.Limit{Name: "goals per game", Max: 200, Code: "too_many_goals"}
	MaxPlayers = spec.Limit{Name: "players per game", Max: 60, Code: "too_many_players"}
)

// Changed asks to compute the standings of a season again, because a game was finished,
// corrected, reopened or deleted.
type Changed struct {
	SeasonID string `json:"seasonId"`
	GameID   string `json:"gameId,omitempty"`
}

// AggregateQueue receives Changed. A group is a season.
var AggregateQueue = spec.Queue{Name: "threefc-aggregate.fifo", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}

// The functions.
var (
	CreateGameFunction = spec.Function{
		Name:   "threefc/create-game",
		Does:   "Creates a game of a session.",
		IfDown: "No game can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/sessions/{sessionId}/games", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetSession, tables.ListTeams, tables.CreateGame), Limits: []spec.Limit{MaxGames},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListGamesFunction = spec.Function{
		Name:   "threefc/list-games",
		Does:   "Returns the games of a session.",
		IfDown: "The app shows no games.",
		On:     spec.Route{Method: "GET", Path: "/v1/sessions/{sessionId}/games", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSession, tables.ListGames),
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetGameFunction = spec.Function{
		Name:   "threefc/get-game",
		Does:   "Returns a game with its score.",
		IfDown: "The app does not show a game.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame),
		Memory: 256, Timeout: 5 * time.Second,
	}
	UpdateGameFunction = spec.Function{
		Name:   "threefc/update-game",
		Does:   "Changes the start, the place, the length or the teams of a game.",
		IfDown: "A game cannot be moved.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame, tables.ListTeams), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteGameFunction = spec.Function{
		Name:   "threefc/delete-game",
		Does:   "Deletes a game with all that belongs to it.",
		IfDown: "A game cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.DropGame, tables.GetSession), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	StartThirdFunction = spec.Function{
		Name:   "threefc/start-third",
		Does:   "Starts a third of a game.",
		IfDown: "Scorekeepers cannot start a game.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/thirds/{third}/start", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	FinishThirdFunction = spec.Function{
		Name:   "threefc/finish-third",
		Does:   "Finishes a third of a game.",
		IfDown: "Scorekeepers cannot finish a third.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/thirds/{third}/finish", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	FinishGameFunction = spec.Function{
		Name:   "threefc/finish-game",
		Does:   "Finishes a game and computes its result.",
		IfDown: "Games are not finished, and the standings do not change.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/finish", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ReopenGameFunction = spec.Function{
		Name:   "threefc/reopen-game",
		Does:   "Makes a finished game live again, so that scorekeepers may correct it.",
		IfDown: "A game cannot be reopened.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/reopen", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	PutSeatFunction = spec.Function{
		Name:   "threefc/put-seat",
		Does:   "Puts a player into a team of a game.",
		IfDown: "Rosters cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/games/{gameId}/roster/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.GetPlayer, tables.SaveRoster), Sends: []spec.Queue{AggregateQueue}, Limits: []spec.Limit{MaxPlayers},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteSeatFunction = spec.Function{
		Name:   "threefc/delete-seat",
		Does:   "Takes a player out of a game.",
		IfDown: "Rosters cannot be changed.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/roster/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveRoster), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListRosterFunction = spec.Function{
		Name:   "threefc/list-roster",
		Does:   "Returns who plays in a game.",
		IfDown: "The app shows no roster.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/roster", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListRoster),
		Memory: 256, Timeout: 5 * time.Second,
	}
	CreateGoalFunction = spec.Function{
		Name:   "threefc/create-goal",
		Does:   "Records a goal: a scorekeeper of the third that runs, or of any third of a reopened game; an administrator of any third that has begun.",
		IfDown: "Scorekeepers cannot record goals.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/goals", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue}, Limits: []spec.Limit{MaxGoals},
		Memory: 256, Timeout: 10 * time.Second,
	}
	UpdateGoalFunction = spec.Function{
		Name:   "threefc/update-goal",
		Does:   "Corrects a goal, or moves it between thirds of which the caller may record goals.",
		IfDown: "Goals cannot be corrected.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/games/{gameId}/goals/{eventId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteGoalFunction = spec.Function{
		Name:   "threefc/delete-goal",
		Does:   "Deletes a goal of a third of which the caller may record goals.",
		IfDown: "Goals cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/goals/{eventId}", Auth: spec.Session, Answers: []int{http.StatusOK}},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	UndoGoalFunction = spec.Function{
		Name:   "threefc/undo-goal",
		Does:   "Deletes the goal that was recorded last, if it is of a third of which the caller may record goals.",
		IfDown: "Scorekeepers cannot undo a goal.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/goals/undo", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListGoalsFunction = spec.Function{
		Name:   "threefc/list-goals",
		Does:   "Returns the goals of a game.",
		IfDown: "The app shows no timeline.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/goals", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListGoals),
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListAuditFunction = spec.Function{
		Name:   "threefc/list-corrections",
		Does:   "Returns what was corrected in a game.",
		IfDown: "The app shows no corrections.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/audit", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListAudit),
		Memory: 256, Timeout: 5 * time.Second,
	}
)
