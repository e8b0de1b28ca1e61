// Command sync-teams copies the provider's teams and seasons.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.Job(cricket.SyncTeamsFunction, cricket.OpenSyncer, (*cricket.Syncer).SyncTeams) }
