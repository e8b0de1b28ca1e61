// Command create-game creates a game of a session.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.CreateGameFunction, game.Open, (*game.Service).CreateGame)
}
