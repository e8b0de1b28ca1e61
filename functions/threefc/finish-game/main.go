// Command finish-game finishes a game and computes its result.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.FinishGameFunction, game.Open, (*game.Service).FinishGame)
}
