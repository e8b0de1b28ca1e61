// Command get-standings answers with the standings of a year.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.GetStandingsFunction, league.OpenLeagues, (*league.Leagues).GetStandings)
}
