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

// changes returns a function of a route that changes a game.
func changes(name, does, ifDown, method, path string, uses ...spec.Access) spec.Function {
	return spec.Function{
		Name: "threefc/" + name, Does: does, IfDown: ifDown,
		On:   spec.Route{Method: method, Path: path, Auth: spec.Session},
		Uses: league.Writes(append([]spec.Access{tables.ReadGame}, uses...)...), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}
}

// reads returns a function of a route that reads what belongs to a game.
func reads(name, does, ifDown, path string, uses ...spec.Access) spec.Function {
	return spec.Function{
		Name: "threefc/" + name, Does: does, IfDown: ifDown,
		On:     spec.Route{Method: "GET", Path: path, Auth: spec.Session},
		Uses:   league.Reads(uses...),
		Memory: 256, Timeout: 5 * time.Second,
	}
}

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
	ListGamesFunction = reads("list-games", "Returns the games of a session.", "The app shows no games.", "/v1/sessions/{sessionId}/games", tables.GetSession, tables.ListGames)
	GetGameFunction   = reads("get-game", "Returns a game with its score.", "The app does not show a game.", "/v1/games/{gameId}", tables.GetGame)

	UpdateGameFunction = changes("update-game", "Changes the start, the place, the length or the teams of a game.", "A game cannot be moved.",
		"PATCH", "/v1/games/{gameId}", tables.SaveGame, tables.ListTeams)
	DeleteGameFunction = changes("delete-game", "Deletes a game with all that belongs to it.", "A game cannot be deleted.",
		"DELETE", "/v1/games/{gameId}", tables.DropGame, tables.GetSession)

	StartThirdFunction  = changes("start-third", "Starts a third of a game.", "Scorekeepers cannot start a game.", "POST", "/v1/games/{gameId}/thirds/{third}/start", tables.SaveGame)
	FinishThirdFunction = changes("finish-third", "Finishes a third of a game.", "Scorekeepers cannot finish a third.", "POST", "/v1/games/{gameId}/thirds/{third}/finish", tables.SaveGame)
	FinishGameFunction  = changes("finish-game", "Finishes a game and computes its result.", "Games are not finished, and the standings do not change.", "POST", "/v1/games/{gameId}/finish", tables.SaveGame)
	ReopenGameFunction  = changes("reopen-game", "Makes a finished game live again.", "A game cannot be reopened.", "POST", "/v1/games/{gameId}/reopen", tables.SaveGame)

	PutSeatFunction    = limited(changes("put-seat", "Puts a player into a team of a game.", "Rosters cannot be changed.", "PUT", "/v1/games/{gameId}/roster/{playerId}", tables.GetPlayer, tables.SaveRoster), http.StatusOK, MaxPlayers)
	DeleteSeatFunction = changes("delete-seat", "Takes a player out of a game.", "Rosters cannot be changed.", "DELETE", "/v1/games/{gameId}/roster/{playerId}", tables.SaveRoster)
	ListRosterFunction = reads("list-roster", "Returns who plays in a game.", "The app shows no roster.", "/v1/games/{gameId}/roster", tables.GetGame, tables.ListRoster)

	CreateGoalFunction = limited(changes("create-goal", "Records a goal.", "Scorekeepers cannot record goals.", "POST", "/v1/games/{gameId}/goals", tables.SaveGoal), http.StatusCreated, MaxGoals)
	UpdateGoalFunction = changes("update-goal", "Corrects a goal.", "Goals cannot be corrected.", "PATCH", "/v1/games/{gameId}/goals/{eventId}", tables.SaveGoal)
	DeleteGoalFunction = answering(changes("delete-goal", "Deletes a goal.", "Goals cannot be deleted.", "DELETE", "/v1/games/{gameId}/goals/{eventId}", tables.SaveGoal), http.StatusOK)
	UndoGoalFunction   = changes("undo-goal", "Deletes the goal that was recorded last.", "Scorekeepers cannot undo a goal.", "POST", "/v1/games/{gameId}/goals/undo", tables.SaveGoal)
	ListGoalsFunction  = reads("list-goals", "Returns the goals of a game.", "The app shows no timeline.", "/v1/games/{gameId}/goals", tables.GetGame, tables.ListGoals)
	ListAuditFunction  = reads("list-corrections", "Returns what was corrected in a game.", "The app shows no corrections.", "/v1/games/{gameId}/audit", tables.GetGame, tables.ListAudit)
)

// limited adds a limit to a function, whose usual answer is status.
func limited(f spec.Function, status int, l spec.Limit) spec.Function {
	f = answering(f, status)
	f.Limits = []spec.Limit{l}
	return f
}

// answering gives the route of a function its usual answer.
func answering(f spec.Function, status int) spec.Function {
	on := f.On.(spec.Route)
	on.Answers = []int{status}
	f.On = on
	return f
}
