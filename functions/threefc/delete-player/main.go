// Command delete-player deletes a player who was never in a team of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.DeletePlayerFunction, player.Open, (*player.Service).DeletePlayer)
}
