// Command delete-match takes a match off a card.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.DeleteMatchFunction, event.OpenEvents, (*event.Events).DeleteMatch) }
