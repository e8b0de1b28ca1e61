package topic

import (
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/push/fcm"
)

// The tests of the package use these unexported names.

const (
	BallExpiration = ballExpiration
	CountEvery     = countEvery
	MaxStartTries  = maxStartTries
)

const (
	Start = start
	End   = end
)

// MessageOf returns the message of an update, or of an end if ended is not 0.
func MessageOf(matchID, view string, row match.DisplayRow, ended int64, now time.Time) (*fcm.Message, error) {
	event := update
	if ended != 0 {
		event = end
	}

	return MessageFor(matchID, view, event, row, ended, now)
}

// MessageFor returns the message of an event.
func MessageFor(matchID, view, event string, row match.DisplayRow, ended int64, now time.Time) (*fcm.Message, error) {
	return state{matchID: matchID, view: view, event: event, row: row, ended: ended}.message(now)
}

var (
	Chip    = chip
	Compact = compact
)

func (x *Pusher) EveryBall() *int { return &x.everyBall }
