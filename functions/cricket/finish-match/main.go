// Command finish-match ends a match that has left the feed.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(cricket.FinishMatchFunction, cricket.OpenFinisher, (*cricket.Finisher).FinishMatch)
}
