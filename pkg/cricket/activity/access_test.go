package activity

import "context"

// RemoveUnregistered removes an unregistered token. registered is the time of its registration when
// it was read.
func (p *Pusher) RemoveUnregistered(ctx context.Context, matchID, token string, registered int64) error {
	run := pushRun{
		Pusher: p,
		change: MatchChanged{MatchID: matchID},
		all:    []target{{PushToken: token, UpdatedAt: registered}},
		remove: []string{token},
	}

	return run.removeUnregistered(ctx)
}
