// Command create-event announces an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.CreateEventFunction, pickem.OpenEvents, (*pickem.Events).CreateEvent) }
