// Command push-activities pushes what changed in one match to its Live Activities.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(cricket.PushActivitiesFunction, cricket.OpenPusher, (*cricket.Pusher).PushActivities)
}
