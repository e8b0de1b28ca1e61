// Command delete-league ends a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.DeleteLeagueFunction, league.OpenLeagues, (*league.Leagues).DeleteLeague)
}
