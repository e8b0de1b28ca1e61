// Command delete-goal deletes a goal.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.DeleteGoalFunction, game.Open, (*game.Service).DeleteGoal)
}
