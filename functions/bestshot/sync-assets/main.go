// Command sync-assets fetches badges of teams and logos of tournaments.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(ingest.SyncAssetsFunction, ingest.OpenCollector, (*ingest.Collector).SyncAssets)
}
