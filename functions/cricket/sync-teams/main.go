// Command sync-teams copies the provider's teams and seasons.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() { app.Job(catalog.SyncTeamsFunction, catalog.OpenSyncer, (*catalog.Syncer).SyncTeams) }
