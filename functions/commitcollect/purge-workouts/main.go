// Command purge-workouts deletes the workouts of a user who has revoked the access at Strava.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(workout.PurgeWorkoutsFunction, workout.OpenPurger, (*workout.Purger).PurgeWorkouts)
}
