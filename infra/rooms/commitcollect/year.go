package commitcollect

import (
	"context"
	"errors"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/commitcollect/replay"
	"matchday/infra/sim/strava"
	"matchday/pkg/commitcollect"
)

// The size of the world of a replay.
const (
	athletes = 20
	weeks    = 52
)

// Replay plays so many weeks of so many athletes. See package replay.
func Replay(ctx context.Context, cfg frame.Config, athletes, weeks int) error {
	if cfg.Folder != "" {
		return errors.New("CommitCollect plays a world of its own: leave out DIR, and give SEED for another world")
	}

	return replay.Run(ctx, replay.Config{
		Config: cfg, People: athletes, Weeks: weeks, Webhook: webhook, Room: fleet.Room{Room: commitcollect.Room(), App: Bundle},
		Simulate: func(in fleet.Host, cfg strava.Config) (*strava.Sim, []string, error) {
			h := &Host{}
			env, err := h.simulate(in, cfg)

			return h.Strava, env, err
		},
	})
}
