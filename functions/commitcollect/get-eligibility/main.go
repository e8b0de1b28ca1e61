// Command get-eligibility returns why a workout of the caller counts for a milestone, or why not.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(milestone.GetEligibilityFunction, milestone.Open, (*milestone.Service).GetEligibility)
}
