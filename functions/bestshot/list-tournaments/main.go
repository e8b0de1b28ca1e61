// Command list-tournaments returns the tournaments.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListTournamentsFunction, tournament.Open, (*tournament.Tournaments).ListTournaments)
}
