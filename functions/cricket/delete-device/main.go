// Command delete-device sends no more alerts to a phone of the caller.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.DeleteDeviceFunction, cricket.OpenDevices, (*cricket.Devices).DeleteDevice)
}
