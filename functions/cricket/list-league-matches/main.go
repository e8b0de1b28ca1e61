// Command list-league-matches answers an administrator with every match of a league.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.ListLeagueMatchesFunction, cricket.OpenMatches, (*cricket.Matches).ListLeagueMatches)
}
