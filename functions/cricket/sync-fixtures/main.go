// Command sync-fixtures copies the provider's schedule.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(cricket.SyncFixturesFunction, cricket.OpenFixtureSyncer, (*cricket.FixtureSyncer).SyncFixtures)
}
