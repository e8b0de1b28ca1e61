// Command get-event answers with an event, its card and the caller's prediction.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetEventFunction, pickem.OpenEvents, (*pickem.Events).GetEvent) }
