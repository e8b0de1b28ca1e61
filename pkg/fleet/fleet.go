// Package fleet lists everything that is deployed.
package fleet

import (
	"matchday/pkg/accounts"
	"matchday/pkg/bestshot"
	"matchday/pkg/commitcollect"
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
)

// Rooms are the fleet's rooms, in the order in which a newcomer should visit them.
func Rooms() []app.Room {
	return []app.Room{cricket.Room(), pickem.Room(), commitcollect.Room(), threefc.Room(), bestshot.Room(), accounts.Room()}
}

// Specs are the specs of the rooms.
func Specs() (all []spec.Room) {
	for _, room := range Rooms() {
		all = append(all, room.Spec)
	}

	return all
}
