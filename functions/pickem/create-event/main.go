// Command create-event announces an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.CreateEventFunction, event.OpenEvents, (*event.Events).CreateEvent) }
