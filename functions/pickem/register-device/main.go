// Command register-device has the caller's phone reminded.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/notice"
)

func main() {
	app.API(notice.RegisterDeviceFunction, notice.OpenDevices, (*notice.Devices).RegisterDevice)
}
