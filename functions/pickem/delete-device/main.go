// Command delete-device has the caller's phone not reminded any more.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/notice"
)

func main() {
	app.API(notice.DeleteDeviceFunction, notice.OpenDevices, (*notice.Devices).DeleteDevice)
}
