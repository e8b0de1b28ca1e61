// Command show-join-code shows the QR code of a code by which players join a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.ShowCodeFunction, player.Open, (*player.Service).ShowCode)
}
