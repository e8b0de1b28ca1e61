// Command sync-leagues copies the provider's leagues.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.Job(cricket.SyncLeaguesFunction, cricket.OpenSyncer, (*cricket.Syncer).SyncLeagues) }
