// Command get-league-standings answers with the standings of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.GetLeagueStandingsFunction, league.OpenLeagues, (*league.Leagues).GetLeagueStandings)
}
