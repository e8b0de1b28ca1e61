// Package fleet lists everything that is deployed.
package fleet

import (
	"matchday/pkg/accounts"
	"matchday/pkg/bestshot"
	"matchday/pkg/commitcollect"
	"matchday/pkg/cricket"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
)

// Rooms are the fleet's rooms, in the order in which a newcomer should visit them.
func Rooms() []spec.Room {
	return []spec.Room{cricket.Room, pickem.Room, commitcollect.Room, threefc.Room, bestshot.Room, accounts.Room}
}
