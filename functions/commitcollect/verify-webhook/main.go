// Command verify-webhook tells Strava that the webhook is ours.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(workout.VerifyWebhookFunction, workout.OpenHooks, (*workout.Hooks).VerifyWebhook)
}
