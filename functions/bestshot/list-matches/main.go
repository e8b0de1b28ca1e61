// Command list-matches returns the matches of a round.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListMatchesFunction, tournament.Open, (*tournament.Tournaments).ListMatches)
}
