// Command sync-match asks the provider for a match.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() { app.API(ingest.SyncMatchFunction, ingest.OpenOffice, (*ingest.Office).SyncMatch) }
