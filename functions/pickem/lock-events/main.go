// Command lock-events locks the events whose time has come.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.Job(pickem.LockEventsFunction, pickem.OpenEvents, (*pickem.Events).LockEvents) }
