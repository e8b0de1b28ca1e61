// Package all lists the rooms.
package all

import (
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/accounts"
	"matchday/infra/rooms/bestshot"
	"matchday/infra/rooms/commitcollect"
	"matchday/infra/rooms/cricket"
	"matchday/infra/rooms/pickem"
	"matchday/infra/rooms/threefc"
)

// Rooms returns the value of every room, in the order of pkg/fleet.
func Rooms() []rooms.Room {
	return []rooms.Room{cricket.Room, pickem.Room, commitcollect.Room, threefc.Room, bestshot.Room, accounts.Room}
}

// Fleet returns every room for fleet.Config, with simulators of its own.
func Fleet() (all []fleet.Room) {
	for _, r := range Rooms() {
		all = append(all, r.Local().Fleet)
	}

	return all
}
