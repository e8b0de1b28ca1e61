// Command plan-polls asks for what may have changed.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() { app.Job(ingest.PlanPollsFunction, ingest.OpenPlanner, (*ingest.Planner).PlanPolls) }
