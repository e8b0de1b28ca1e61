// Command plan-ticks says whether the next minute needs ticks, and which.
package main

import (
	"matchday/pkg/cricket/live"
	"matchday/pkg/kit/app"
)

func main() { app.Task(live.PlanTicksFunction, live.OpenPlanner, (*live.Planner).PlanTicks) }
