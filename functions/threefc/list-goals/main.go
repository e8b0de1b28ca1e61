// Command list-goals returns the goals of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.ListGoalsFunction, game.Open, (*game.Service).ListGoals)
}
