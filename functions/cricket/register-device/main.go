// Command register-device has the caller's alerts sent to a phone.
package main

import (
	_ "time/tzdata"

	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.RegisterDeviceFunction, follower.OpenDevices, (*follower.Devices).RegisterDevice)
}
