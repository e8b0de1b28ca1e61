// Command join-game puts who has a code into the pool of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.JoinFunction, player.Open, (*player.Service).Join)
}
