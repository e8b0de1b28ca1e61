// Command claim-player says that the caller is a player.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.ClaimPlayerFunction, player.Open, (*player.Service).ClaimPlayer)
}
