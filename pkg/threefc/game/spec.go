package game

import (
	"matchday/pkg/spec"
)

// Limits of games.
var (
	MaxGames = spec.Limit{Name: "games per session", Max: 30, Code: "too_many_games"}
	MaxGoals = spec.Limit{Name: "goals per game", Max: 200, Code: "too_many_goals"}
	// MaxProposals is as much as a phone without a network sends of a whole game.
	MaxProposals = spec.Limit{Name: "goals per game that wait for an administrator", Max: 100, Code: "too_many_proposals"}

	MaxPlayers = spec.Limit{Name: "players per game", Max: 60, Code: "too_many_players"}
)

// Changed requests the standings of a season, because a game was finished, corrected, reopened or
// deleted.
type Changed struct {
	SeasonID string `json:"seasonId"`
	GameID   string `json:"gameId,omitempty"`
}

// Remind requests the mails about a session: reminders, or a notice of a move.
type Remind struct {
	SessionID string `json:"sessionId"` // of reminders
	Move      Move   `json:"move,omitzero"`
}

// Move is a move of a session or of a game, which a notice is about.
type Move struct {
	SessionID string `json:"sessionId,omitempty"`
	GameID    string `json:"gameId,omitempty"`
	Count     int    `json:"count"` // the move's number
}

// RemindQueue receives Remind.
var RemindQueue = spec.Queue{Name: "threefc-remind", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}

// AggregateQueue receives Changed. A group is a season.
var AggregateQueue = spec.Queue{Name: "threefc-aggregate.fifo", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}
