// Command create-league makes a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.CreateLeagueFunction, league.OpenLeagues, (*league.Leagues).CreateLeague)
}
