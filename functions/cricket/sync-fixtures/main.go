// Command sync-fixtures copies the provider's schedule.
package main

import (
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(schedule.SyncFixturesFunction, schedule.OpenSyncer, (*schedule.Syncer).SyncFixtures)
}
