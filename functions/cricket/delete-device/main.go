// Command delete-device sends no more alerts to a phone of the caller.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.DeleteDeviceFunction, follower.OpenDevices, (*follower.Devices).DeleteDevice)
}
