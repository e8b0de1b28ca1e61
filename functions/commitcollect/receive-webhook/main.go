// Command receive-webhook takes the events of Strava.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(workout.ReceiveWebhookFunction, workout.OpenHooks, (*workout.Hooks).ReceiveWebhook)
}
