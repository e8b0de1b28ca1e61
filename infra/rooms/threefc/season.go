package threefc

import (
	"context"
	"errors"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/threefc/replay"
	"matchday/pkg/threefc"
)

// The size of the world of a replay.
const (
	sessions = 12
	games    = 3 // of a session
)

// Replay plays so many sessions with so many games each. See package replay.
func Replay(ctx context.Context, cfg frame.Config, sessions, games int) error {
	if cfg.Folder != "" {
		return errors.New("3FC plays a world of its own: leave out DIR, and give SEED for another world")
	}

	return replay.Run(ctx, replay.Config{
		Config: cfg, Sessions: sessions, Games: games, Room: fleet.Room{Room: threefc.Room(), Simulate: withKeys},
	})
}
