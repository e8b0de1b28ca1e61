// Command register-device registers a phone of the caller for notifications.
package main

import (
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(notice.RegisterDeviceFunction, notice.OpenDevices, (*notice.Devices).RegisterDevice)
}
