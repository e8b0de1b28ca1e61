// Command create-join-code makes a code by which players join a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.CreateCodeFunction, player.Open, (*player.Service).CreateCode)
}
