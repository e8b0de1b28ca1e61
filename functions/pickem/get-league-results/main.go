// Command get-league-results answers with the scores of an event in a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.GetLeagueResultsFunction, league.OpenLeagues, (*league.Leagues).GetLeagueResults)
}
