// Command delete-game deletes a game with all that belongs to it.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.DeleteGameFunction, game.Open, (*game.Service).DeleteGame)
}
