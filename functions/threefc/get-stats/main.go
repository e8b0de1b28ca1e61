// Command get-stats returns the numbers of the players whom the caller has claimed.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/profile"
)

func main() {
	app.API(profile.GetStatsFunction, profile.Open, (*profile.Service).GetStats)
}
