// Command list-events answers with events.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.ListEventsFunction, event.OpenEvents, (*event.Events).ListEvents) }
