// Command update-event changes an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.UpdateEventFunction, event.OpenEvents, (*event.Events).UpdateEvent) }
