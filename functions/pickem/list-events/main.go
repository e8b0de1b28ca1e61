// Command list-events answers with events.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.ListEventsFunction, pickem.OpenEvents, (*pickem.Events).ListEvents) }
