// Command create-goal records a goal.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.CreateGoalFunction, game.Open, (*game.Service).CreateGoal)
}
