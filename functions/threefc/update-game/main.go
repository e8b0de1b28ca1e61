// Command update-game changes the start, the place, the length or the teams of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.UpdateGameFunction, game.Open, (*game.Service).UpdateGame)
}
