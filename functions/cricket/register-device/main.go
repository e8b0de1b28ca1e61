// Command register-device has the caller's alerts sent to a phone.
package main

import (
	_ "time/tzdata" // the Lambda runtime has no time zones

	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.RegisterDeviceFunction, cricket.OpenDevices, (*cricket.Devices).RegisterDevice)
}
