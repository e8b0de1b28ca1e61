// Command sync-leagues copies the provider's leagues.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() { app.Job(catalog.SyncLeaguesFunction, catalog.OpenSyncer, (*catalog.Syncer).SyncLeagues) }
