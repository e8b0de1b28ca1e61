// Command show-standings returns the standings of a season to everybody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.GetStandingsFunction, public.Open, (*public.Service).GetStandings)
}
