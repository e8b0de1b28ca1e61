package pickem

import (
	"matchday/infra/rooms"
	"matchday/pkg/pickem"
)

// Room plugs pick'em in.
var Room = rooms.Room{
	Spec: pickem.Room,
}
