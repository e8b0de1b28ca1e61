// Command drop-claim gives a player free whom a user has claimed.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.DropClaimFunction, player.Open, (*player.Service).DropClaim)
}
