// Command backfill fetches the history of a user from Strava.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(workout.BackfillFunction, workout.OpenIngester, (*workout.Ingester).Backfill) }
