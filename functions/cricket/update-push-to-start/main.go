// Command update-push-to-start has Live Activities started on a phone of the caller by a push.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.UpdatePushToStartFunction, follower.OpenDevices, (*follower.Devices).UpdatePushToStart)
}
