// Package all lists the values of the rooms, and chooses those of a fleet on one machine.
package all

import (
	"fmt"
	"slices"

	local "matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/accounts"
	"matchday/infra/rooms/bestshot"
	"matchday/infra/rooms/commitcollect"
	"matchday/infra/rooms/cricket"
	"matchday/infra/rooms/pickem"
	"matchday/infra/rooms/threefc"
	"matchday/pkg/fleet"
)

// values are those of all rooms, in the order of pkg/fleet.
var values = []rooms.Room{
	cricket.Room,
	pickem.Room,
	commitcollect.Room,
	threefc.Room,
	bestshot.Room,
	accounts.Room,
}

// Choose returns the values of the rooms that fleet.Choose returns for these names.
func Choose(names string) (all []rooms.Room, err error) {
	choice, err := fleet.Choose(names, "")
	if err != nil {
		return nil, err
	}

	for _, room := range choice.Rooms {
		i := slices.IndexFunc(values, func(v rooms.Room) bool { return v.Spec.Name == room.Spec.Name })
		if i < 0 {
			return nil, fmt.Errorf("the values in infra/rooms/all/all.go lack the room %s", room.Spec.Name)
		}

		v := values[i]
		v.Room, v.Local = room, func() rooms.Local {
			l := values[i].Local()
			l.Fleet.Room = room

			return l
		}
		all = append(all, v)
	}

	return all, nil
}

// Rooms returns the values of all rooms.
func Rooms() []rooms.Room {
	all, err := Choose("")
	if err != nil {
		panic(err) // a value is missing, as a test says
	}

	return all
}

// Fleet returns rooms for the configuration of a local fleet, with simulators of their own.
func Fleet(rooms []rooms.Room) (all []local.Room) {
	for _, r := range rooms {
		all = append(all, r.Local().Fleet)
	}

	return all
}

// Beside returns the rooms that a fleet of one room has beside it. The error names an unknown
// room.
func Beside(name string) ([]local.Room, error) {
	all, err := Choose(name)

	return Fleet(slices.DeleteFunc(all, func(r rooms.Room) bool { return r.Spec.Name == name })), err
}
