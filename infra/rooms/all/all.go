// Package all lists the rooms.
package all

import (
	"matchday/infra/rooms"
	"matchday/infra/rooms/cricket"
	"matchday/infra/rooms/pickem"
)

// Rooms returns the value of every room, in the order of pkg/fleet.
func Rooms() []rooms.Room {
	return []rooms.Room{cricket.Room, pickem.Room}
}
