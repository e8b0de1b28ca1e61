// Command sync-tournament asks the provider for a part of a tournament.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(ingest.SyncTournamentFunction, ingest.OpenOffice, (*ingest.Office).SyncTournament)
}
