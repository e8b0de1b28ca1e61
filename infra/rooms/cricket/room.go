// Package cricket is everything outside pkg that knows the cricket room: its
// provider and phones in a local fleet, a match to watch, its tab on the console,
// and its replay of real matches.
package cricket

import (
	"context"
	"errors"

	frame "matchday/infra/local/replay"
	"matchday/infra/rooms"
	"matchday/infra/rooms/cricket/bench"
	"matchday/infra/rooms/cricket/cost"
	"matchday/infra/rooms/cricket/replay"
	"matchday/infra/rooms/cricket/smoke"
	"matchday/pkg/cricket"
)

// Room plugs cricket in.
var Room = rooms.Room{
	Room:  cricket.Room(),
	Local: newLocal,
	Replay: func(ctx context.Context, cfg frame.Config) error {
		if cfg.Folder == "" {
			return errors.Join(replay.RunHabits(ctx, cfg), replay.RunSeason(ctx, cfg, 200))
		}

		return replay.Run(ctx, replay.Config{Config: cfg, AtOnce: 12})
	},
	Smoke: smoke.Run,
	Bench: bench.Suite,
	Cost:  cost.Model,
}
