// Command push-activities pushes what changed in one match to its Live Activities.
package main

import (
	"matchday/pkg/cricket/activity"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(activity.PushActivitiesFunction, activity.OpenPusher, (*activity.Pusher).PushActivities)
}
