package activity

import "context"

// RemoveGone removes a gone token. registered is the time of its registration when
// it was read, in epoch ms.
func (p *Pusher) RemoveGone(ctx context.Context, matchID, token string, registered int64) error {
	run := pushRun{Pusher: p, change: MatchChanged{MatchID: matchID}, registered: map[string]int64{token: registered}, remove: []string{token}}
	return run.removeGone(ctx)
}
