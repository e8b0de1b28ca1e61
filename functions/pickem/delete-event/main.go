// Command delete-event calls an event off.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.DeleteEventFunction, event.OpenEvents, (*event.Events).DeleteEvent) }
