// Command get-tournament returns a tournament.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.GetTournamentFunction, tournament.Open, (*tournament.Tournaments).GetTournament)
}
