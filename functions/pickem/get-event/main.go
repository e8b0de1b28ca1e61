// Command get-event answers with an event, its card and the caller's prediction.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.GetEventFunction, event.OpenEvents, (*event.Events).GetEvent) }
