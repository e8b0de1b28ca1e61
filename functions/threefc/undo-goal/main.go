// Command undo-goal deletes the goal that was recorded last.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.UndoGoalFunction, game.Open, (*game.Service).UndoGoal)
}
