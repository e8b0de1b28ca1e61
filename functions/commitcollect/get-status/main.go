// Command get-status returns the state of the caller's connection to Strava.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() { app.API(workout.GetStatusFunction, workout.Open, (*workout.Service).GetStatus) }
