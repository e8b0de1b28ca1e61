package pickem

import (
	"matchday/infra/rooms"
	"matchday/infra/rooms/pickem/bench"
	"matchday/infra/rooms/pickem/smoke"
	"matchday/pkg/pickem"
)

// Room plugs pick'em in.
var Room = rooms.Room{
	Spec: pickem.Room,

	Smoke: smoke.Run,
	Bench: bench.Suite,
}
