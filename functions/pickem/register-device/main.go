// Command register-device has the caller's phone reminded.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.RegisterDeviceFunction, pickem.OpenDevices, (*pickem.Devices).RegisterDevice)
}
