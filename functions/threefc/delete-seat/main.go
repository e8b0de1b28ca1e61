// Command delete-seat takes a player out of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.DeleteSeatFunction, game.Open, (*game.Service).DeleteSeat)
}
