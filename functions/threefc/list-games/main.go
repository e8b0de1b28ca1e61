// Command list-games returns the games of a session.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.ListGamesFunction, game.Open, (*game.Service).ListGames)
}
