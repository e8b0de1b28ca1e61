// Command register-device registers a phone of the caller.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
)

func main() {
	app.API(notice.RegisterDeviceFunction, notice.OpenDevices, (*device.Devices).RegisterDevice)
}
