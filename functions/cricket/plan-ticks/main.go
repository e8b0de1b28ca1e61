// Command plan-ticks says whether the next minute needs ticks, and which.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.Task(cricket.PlanTicksFunction, cricket.OpenPlanner, (*cricket.Planner).PlanTicks) }
