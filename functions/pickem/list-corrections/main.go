// Command list-corrections answers with the log of an event's results.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() {
	app.API(event.ListCorrectionsFunction, event.OpenEvents, (*event.Events).ListCorrections)
}
