// Command update-player changes the nickname or the avatar of a player.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.UpdatePlayerFunction, player.Open, (*player.Service).UpdatePlayer)
}
