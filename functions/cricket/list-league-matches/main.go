// Command list-league-matches answers an administrator with every match of a league.
package main

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(match.ListLeagueMatchesFunction, match.OpenMatches, (*match.Matches).ListLeagueMatches)
}
