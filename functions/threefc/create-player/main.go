// Command create-player creates a player of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.CreatePlayerFunction, player.Open, (*player.Service).CreatePlayer)
}
