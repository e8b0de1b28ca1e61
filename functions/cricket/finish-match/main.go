// Command finish-match ends a match that has left the feed.
package main

import (
	"matchday/pkg/cricket/live"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(live.FinishMatchFunction, live.OpenFinisher, (*live.Finisher).FinishMatch)
}
