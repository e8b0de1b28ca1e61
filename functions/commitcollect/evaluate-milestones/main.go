// Command evaluate-milestones computes the milestones of a user whose workouts have changed, and mints the parts that they earn.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(milestone.EvaluateMilestonesFunction, milestone.Open, (*milestone.Service).EvaluateMilestones)
}
