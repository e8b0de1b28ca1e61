// Command update-league changes the name or the slug of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.UpdateLeagueFunction, league.Open, (*league.Service).UpdateLeague)
}
