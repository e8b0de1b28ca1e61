// Command get-subscription returns whether Strava sends its events to this stage.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(workout.GetSubscriptionFunction, workout.OpenSubscriptions, (*workout.Subscriptions).GetSubscription)
}
