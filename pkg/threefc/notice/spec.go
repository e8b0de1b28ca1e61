package notice

import (
	"matchday/pkg/spec"
)

// Remind requests the reminders of the players of a session.
type Remind struct {
	SessionID string `json:"sessionId"`
}

// Mail requests a mail to a user about a finished game or a session.
type Mail struct {
	UserID    string `json:"userId"`
	GameID    string `json:"gameId,omitempty"`    // that is finished
	SessionID string `json:"sessionId,omitempty"` // that is tomorrow
}

// The queues.
var (
	RemindQueue = spec.Queue{Name: "threefc-remind", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
	MailQueue   = spec.Queue{Name: "threefc-mail", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}
)
