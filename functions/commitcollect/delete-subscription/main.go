// Command delete-subscription ends the subscription to Strava's events.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(workout.DeleteSubscriptionFunction, workout.OpenSubscriptions, (*workout.Subscriptions).DeleteSubscription)
}
