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

// MessageOf returns the message of an update, or of an end if ended is not 0.
func MessageOf(matchID, view string, row match.DisplayRow, ended int64, now time.Time) (*fcm.Message, error) {
	s := state{matchID: matchID, view: view, event: update, row: row, ended: ended}
	if ended != 0 {
		s.event = end
	}

	return s.message(now)
}

var (
	Chip    = chip
	Compact = compact
)

func (x *Pusher) EveryBall() *int { return &x.everyBall }
