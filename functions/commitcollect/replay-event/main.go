// Command replay-event has an event of Strava handled again.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() { app.API(workout.ReplayEventFunction, workout.Open, (*workout.Service).ReplayEvent) }
