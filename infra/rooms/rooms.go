// Package rooms defines what a room brings besides its code in pkg: everything
// that the local fleet, the console, the replay and the tools must know of it.
// Each room has one Room value, in infra/rooms/<room>; package all lists them.
//
// The package imports no room.
package rooms

import (
	"context"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/cost/usage"
	"matchday/infra/tools/events/story"
	"matchday/infra/tools/smoke/check"
	"matchday/pkg/kit/app"
)

// Room plugs a room into the local fleet, the console and the tools.
type Room struct {
	app.Room
	Local  func() Local // the room in one local fleet
	Replay replay.Play  // nil if the room has none
	// Providers are the values of PROVIDER that the replay takes, the default first; nil if it takes none.
	Providers []string
	// Retains is set if the replay takes RETENTION.
	Retains bool

	// Smoke runs the room's own checks against its deployed API; nil for none.
	Smoke func(ctx context.Context, s *check.Session)

	// Bench is its part of the benchmark.
	Bench measure.Suite

	// Cost is its part of the cost model.
	Cost usage.Model
}

// Local is a room in one local fleet, with the state of its simulators.
type Local struct {
	Fleet fleet.Room
	Panel console.Panel
	// Demo returns what `make run` plays in the room. The error says which option
	// is not valid. It is called before the fleet starts, and may be nil.
	Demo func(Options) (Demo, error)
	// Samples belong to the sample events, events/<room>.
	Samples story.Samples
}

// Options are those of `make run`.
type Options struct {
	Began  time.Time // fleet time at which the run began
	Getenv func(name string) string
	Say    func(format string, args ...any) // writes progress, without an end of line
}

// Demo is what `make run` plays in a room.
type Demo struct {
	// Prepare is called once the fleet has started, before schedules run.
	Prepare func(context.Context) error
	// Play is called when schedules run, while the fleet's clock is held. It plays
	// until ctx ends. It may be nil.
	Play func(context.Context)
}
