// Command get-league-standings answers with the standings of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.GetLeagueStandingsFunction, pickem.OpenLeagues, (*pickem.Leagues).GetLeagueStandings)
}
