// Command put-availability says whether the caller will play in a session.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.API(notice.PutAvailabilityFunction, notice.Open, (*notice.Service).PutAvailability)
}
