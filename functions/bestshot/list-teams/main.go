// Command list-teams returns the teams of a tournament.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListTeamsFunction, tournament.Open, (*tournament.Tournaments).ListTeams)
}
