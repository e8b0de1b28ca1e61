// Command list-roster returns who plays in a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.ListRosterFunction, game.Open, (*game.Service).ListRoster)
}
