// Command recompute-milestone computes a milestone of the caller from all workouts.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.RecomputeMilestoneFunction, milestone.Open, (*milestone.Service).RecomputeMilestone)
}
