// Command update-tournament changes a tournament.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(ingest.UpdateTournamentFunction, ingest.OpenOffice, (*ingest.Office).UpdateTournament)
}
