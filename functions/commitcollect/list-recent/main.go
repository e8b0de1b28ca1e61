// Command list-recent returns the caller's latest workouts.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() { app.API(workout.ListRecentFunction, workout.Open, (*workout.Service).ListRecent) }
