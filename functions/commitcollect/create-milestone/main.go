// Command create-milestone starts a milestone of the caller.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.CreateMilestoneFunction, milestone.Open, (*milestone.Service).CreateMilestone)
}
