// Command update-push-to-start has Live Activities started on a phone of the caller by a push.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.UpdatePushToStartFunction, cricket.OpenDevices, (*cricket.Devices).UpdatePushToStart)
}
