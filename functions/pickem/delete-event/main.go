// Command delete-event calls an event off.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.DeleteEventFunction, pickem.OpenEvents, (*pickem.Events).DeleteEvent) }
