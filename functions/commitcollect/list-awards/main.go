// Command list-awards returns the parts that a milestone of the caller has minted.
package main

import (
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/kit/app"
)

func main() { app.API(milestone.ListAwardsFunction, milestone.Open, (*milestone.Service).ListAwards) }
