// Package cricket is everything outside pkg that knows the cricket room.
package cricket

import (
	"matchday/infra/rooms"
	"matchday/infra/rooms/cricket/bench"
	"matchday/infra/rooms/cricket/smoke"
	"matchday/pkg/cricket"
)

// Room plugs cricket in.
var Room = rooms.Room{
	Spec: cricket.Room,

	Smoke: smoke.Run,
	Bench: bench.Suite,
}
