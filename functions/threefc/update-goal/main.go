// Command update-goal corrects a goal.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.UpdateGoalFunction, game.Open, (*game.Service).UpdateGoal)
}
