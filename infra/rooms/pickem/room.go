package pickem

import (
	"context"
	"errors"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms"
	"matchday/infra/rooms/pickem/bench"
	"matchday/infra/rooms/pickem/cost"
	"matchday/infra/rooms/pickem/replay"
	"matchday/infra/rooms/pickem/smoke"
	"matchday/pkg/pickem"
)

// Bundle is the bundle id of the pick'em app.
const Bundle = "app.matchday.pickem"

// Room plugs pick'em in.
var Room = rooms.Room{
	Room:   pickem.Room(),
	Local:  newLocal,
	Replay: play,
	Smoke:  smoke.Run,
	Bench:  bench.Suite,
	Cost:   cost.Model,
}

// shows is the number of shows in the year of a replay: one every two weeks.
const shows = 26

func play(ctx context.Context, cfg frame.Config) error {
	if cfg.Folder != "" {
		return errors.New("pick'em plays a world of its own: leave out DIR, and give SEED for another world")
	}

	return replay.Run(ctx, replay.Config{Config: cfg, Rooms: []fleet.Room{newLocal().Fleet}, Shows: shows})
}

// newLocal returns pick'em in one local fleet. Its demo is a season.
func newLocal() rooms.Local {
	s := &Season{}

	return rooms.Local{
		Samples: samples(),
		Fleet: fleet.Room{Room: pickem.Room(), App: Bundle, Simulate: func(h fleet.Host) ([]string, error) {
			s.Clock, s.Call, s.SignIn = h.Clock, h.Call, h.SignIn
			return []string{"PICKEM_BUNDLE=" + Bundle}, nil
		}},
		Panel: s.Panel(),
		Demo: func(o rooms.Options) (rooms.Demo, error) {
			return rooms.Demo{
				Prepare: func(ctx context.Context) error {
					if err := s.Prepare(ctx); err != nil {
						return err
					}

					o.Say("a season of pick'em has begun")

					return nil
				},
				Play: s.Run,
			}, nil
		},
	}
}
