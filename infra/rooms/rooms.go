// Package rooms defines what a room brings besides its code in pkg: everything
// that the local fleet, the console, the replay and the tools must know of it.
// Each room has one Room value, in infra/rooms/<room>; package all lists them.
//
// The package imports no room.
package rooms

import (
	"context"

	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/smoke/check"
	"matchday/pkg/spec"
)

// Room plugs a room into the local fleet, the console and the tools.
type Room struct {
	Spec spec.Room

	// Smoke runs the room's own checks against its deployed API; nil for none.
	Smoke func(ctx context.Context, s *check.Session)

	// Bench is its part of the benchmark.
	Bench measure.Suite
}
