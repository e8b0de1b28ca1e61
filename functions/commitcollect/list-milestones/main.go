// Command list-milestones returns the caller's milestones.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.ListMilestonesFunction, milestone.Open, (*milestone.Service).ListMilestones)
}
