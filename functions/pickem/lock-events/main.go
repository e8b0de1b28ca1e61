// Command lock-events locks the events whose time has come.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.Job(event.LockEventsFunction, event.OpenEvents, (*event.Events).LockEvents) }
