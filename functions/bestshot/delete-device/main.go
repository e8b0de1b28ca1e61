// Command delete-device deletes the registration of a phone of the caller.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
)

func main() { app.API(notice.DeleteDeviceFunction, notice.OpenDevices, (*device.Devices).DeleteDevice) }
