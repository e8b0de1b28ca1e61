// Command start-third starts a third of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.StartThirdFunction, game.Open, (*game.Service).StartThird)
}
