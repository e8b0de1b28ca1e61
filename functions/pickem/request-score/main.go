// Command request-score has an event scored.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() {
	app.API(event.RequestScoreFunction, event.OpenEvents, (*event.Events).RequestScore)
}
