// Command get-player returns a player.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.GetPlayerFunction, player.Open, (*player.Service).GetPlayer)
}
