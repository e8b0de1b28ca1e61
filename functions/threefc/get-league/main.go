// Command get-league returns a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.GetLeagueFunction, league.Open, (*league.Service).GetLeague)
}
