// Command list-standings returns the standings of a tournament.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListStandingsFunction, tournament.Open, (*tournament.Tournaments).ListStandings)
}
