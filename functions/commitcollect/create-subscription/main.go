// Command create-subscription has Strava send its events to this stage.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(workout.CreateSubscriptionFunction, workout.OpenSubscriptions, (*workout.Subscriptions).CreateSubscription)
}
