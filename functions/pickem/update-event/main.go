// Command update-event changes an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.UpdateEventFunction, pickem.OpenEvents, (*pickem.Events).UpdateEvent) }
