// Command end-activity stops updating a Live Activity of the caller.
package main

import (
	"matchday/pkg/cricket/activity"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(activity.EndActivityFunction, activity.OpenActivities, (*activity.Activities).EndActivity)
}
