// Command delete-device has the caller's phone not reminded any more.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.DeleteDeviceFunction, pickem.OpenDevices, (*pickem.Devices).DeleteDevice)
}
