// Command finish-third finishes a third of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.FinishThirdFunction, game.Open, (*game.Service).FinishThird)
}
