// Command list-availability returns who will play in a session.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.API(notice.ListAvailabilityFunction, notice.Open, (*notice.Service).ListAvailability)
}
