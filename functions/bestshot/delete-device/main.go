// Command delete-device deletes the registration of a phone of the caller.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
)

func main() { app.API(notice.DeleteDeviceFunction, notice.OpenDevices, (*notice.Devices).DeleteDevice) }
