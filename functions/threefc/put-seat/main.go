// Command put-seat puts a player into a team of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.PutSeatFunction, game.Open, (*game.Service).PutSeat)
}
