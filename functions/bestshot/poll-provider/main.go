// Command poll-provider asks the provider for what is due.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(ingest.PollProviderFunction, ingest.OpenPoller, (*ingest.Poller).PollProvider) }
