// Command sweep-outbox has the standings computed for finished games whose message was lost.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/standing"
)

func main() {
	app.Job(standing.SweepOutboxFunction, standing.Open, (*standing.Aggregator).SweepOutbox)
}
