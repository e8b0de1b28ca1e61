// Command reopen-game makes a finished game live again.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.ReopenGameFunction, game.Open, (*game.Service).ReopenGame)
}
