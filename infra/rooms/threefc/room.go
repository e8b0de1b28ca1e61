// Package threefc is what 3FC brings outside pkg: its environment in a local fleet, sample
// events, smoke steps, bench and cost.
package threefc

import (
	"context"
	"crypto/rand"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms"
	"matchday/infra/rooms/threefc/bench"
	"matchday/infra/rooms/threefc/cost"
	"matchday/infra/rooms/threefc/smoke"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/web"
)

// Room plugs 3FC in.
var Room = rooms.Room{
	Room:   threefc.Room(),
	Local:  newLocal,
	Replay: func(ctx context.Context, cfg frame.Config) error { return Replay(ctx, cfg, sessions, games) },
	Smoke:  smoke.Run,
	Bench:  bench.Suite,
	Cost:   cost.Model,
}

// Host is 3FC in one local fleet.
type Host struct{ fleet.Host }

// newLocal returns 3FC in one local fleet.
func newLocal() rooms.Local {
	h := &Host{}
	v := &visit{Host: h}

	return rooms.Local{
		Samples: h.samples(),
		Fleet: fleet.Room{Room: threefc.Room(), Simulate: func(in fleet.Host) ([]string, error) {
			h.Host = in

			return withKeys(in)
		}},
		Panel: v.panel(),
		Demo:  v.demo,
	}
}

// withKeys returns the environment of a fleet's functions: a key that signs links, another in each run.
func withKeys(fleet.Host) ([]string, error) {
	return []string{web.LinkKeys + "=" + rand.Text() + rand.Text()}, nil
}
