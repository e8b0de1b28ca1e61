// Command list-rounds returns the rounds of a tournament.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListRoundsFunction, tournament.Open, (*tournament.Tournaments).ListRounds)
}
