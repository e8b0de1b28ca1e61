// Command ingest-feed stores what the provider has answered.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(ingest.IngestFeedFunction, ingest.Open, (*ingest.Ingester).IngestFeed) }
