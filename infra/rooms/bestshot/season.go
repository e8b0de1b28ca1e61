package bestshot

import (
	"context"
	"errors"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/bestshot/replay"
	"matchday/infra/sim/apifootball"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/ingest"
)

// Replay plays the openfootball files of a folder. See package replay.
func Replay(ctx context.Context, cfg frame.Config) error {
	if cfg.Folder == "" {
		return errors.New("give a folder of openfootball files as DIR=folder: Best Shot plays seasons of football")
	}

	h := &Host{}

	return replay.Run(ctx, replay.Config{
		Config: cfg,
		Room: fleet.Room{
			Room: bestshot.Room(),
			App:  Bundle,
			Simulate: func(in fleet.Host) ([]string, error) {
				env, err := h.simulate(in, cfg.Seed, apifootball.Plan{})
				return append(env, ingest.LiveSeconds+"=300"), err // five times as fast as with scores of each minute
			},
		},
		Provider: func() *football.Server { return h.Provider },
	})
}
