// Command sync-activities has the caller's latest activities fetched from Strava.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() { app.API(workout.SyncActivitiesFunction, workout.Open, (*workout.Service).SyncActivities) }
