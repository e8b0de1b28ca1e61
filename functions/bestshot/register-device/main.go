// Command register-device registers a phone of the caller.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(notice.RegisterDeviceFunction, notice.OpenDevices, (*notice.Devices).RegisterDevice)
}
