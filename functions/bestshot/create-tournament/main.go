// Command create-tournament creates a tournament.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(ingest.CreateTournamentFunction, ingest.OpenOffice, (*ingest.Office).CreateTournament)
}
