// Command update-match changes a match.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.UpdateMatchFunction, event.OpenEvents, (*event.Events).UpdateMatch) }
