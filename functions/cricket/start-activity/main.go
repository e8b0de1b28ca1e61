// Command start-activity has a Live Activity of the caller updated.
package main

import (
	"matchday/pkg/cricket/activity"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(activity.StartActivityFunction, activity.OpenActivities, (*activity.Activities).StartActivity)
}
