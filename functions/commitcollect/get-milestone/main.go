// Command get-milestone returns a milestone of the caller with its parts.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.GetMilestoneFunction, milestone.Open, (*milestone.Service).GetMilestone)
}
