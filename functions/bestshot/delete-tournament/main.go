// Command delete-tournament deletes a tournament.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(ingest.DeleteTournamentFunction, ingest.OpenOffice, (*ingest.Office).DeleteTournament)
}
