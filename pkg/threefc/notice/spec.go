package notice

import (
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
)

// Remind requests the mails about a session.
type Remind = game.Remind

// Mail requests a mail to a user about a finished game, a session or a move.
type Mail struct {
	UserID    string    `json:"userId"`
	GameID    string    `json:"gameId,omitempty"`    // that is finished
	SessionID string    `json:"sessionId,omitempty"` // that is tomorrow
	Date      string    `json:"date,omitempty"`      // to which the session has moved
	Move      game.Move `json:"move,omitzero"`
}

// The queues.
var (
	RemindQueue = game.RemindQueue
	MailQueue   = spec.Queue{Name: "threefc-mail", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}
)
