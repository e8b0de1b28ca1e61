// Command get-device answers with the caller's phone.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.GetDeviceFunction, cricket.OpenDevices, (*cricket.Devices).GetDevice)
}
