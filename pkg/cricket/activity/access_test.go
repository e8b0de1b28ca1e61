package activity

import (
	"context"
)

// RemoveDead removes a dead token that was registered at an instant.
func (p *Pusher) RemoveDead(ctx context.Context, matchID, token string, registered int64) error {
	run := pushRun{Pusher: p, change: MatchChanged{MatchID: matchID}, registered: map[string]int64{token: registered}, remove: []string{token}}
	return run.removeDead(ctx)
}
