// Command get-device answers with the caller's phone.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.GetDeviceFunction, follower.OpenDevices, (*follower.Devices).GetDevice)
}
