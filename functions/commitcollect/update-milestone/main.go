// Command update-milestone pauses or resumes a milestone of the caller.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.UpdateMilestoneFunction, milestone.Open, (*milestone.Service).UpdateMilestone)
}
