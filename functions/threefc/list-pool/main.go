// Command list-pool returns who has joined a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.ListPoolFunction, player.Open, (*player.Service).ListPool)
}
