// Command delete-league deletes a league without seasons.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.DeleteLeagueFunction, league.Open, (*league.Service).DeleteLeague)
}
