package commitcollect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/commitcollect/replay"
	"matchday/infra/sim/strava"
	"matchday/pkg/commitcollect"
)

// The size of the world of a replay.
const (
	athletes = 20
	weeks    = 56 // from the one 1 June to after the next
)

// settling is how long workouts of a replay must be unchanged before they mint parts.
const settling = time.Hour

// Replay plays so many weeks of so many athletes. See package replay.
func Replay(ctx context.Context, cfg frame.Config, athletes, weeks int) error {
	if cfg.Folder != "" {
		return errors.New("CommitCollect plays a world of its own: leave out DIR, and give SEED for another world")
	}

	h, days := &Host{}, cfg.Retention

	return replay.Run(ctx, replay.Config{
		Config: cfg, People: athletes, Weeks: weeks, Webhook: webhook, Room: fleet.Room{Room: commitcollect.Room(), App: Bundle},
		Settling: settling,
		Simulate: func(in fleet.Host, cfg strava.Config) (*strava.Sim, []string, error) {
			env, err := h.simulate(in, cfg)
			env = append(env, fmt.Sprintf("SETTLING_MINUTES=%.0f", settling.Minutes()), fmt.Sprintf("STRAVA_RETENTION_DAYS=%d", days))

			return h.Strava, env, err
		},
		Moved: func() []string { return []string{"COMMITCOLLECT_STRAVA_API_URL=" + h.stravaURL} },
	})
}
