// Command get-game returns a game with its score.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.GetGameFunction, game.Open, (*game.Service).GetGame)
}
