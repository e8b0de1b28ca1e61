// Command add-match adds a match to a card.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.AddMatchFunction, event.OpenEvents, (*event.Events).AddMatch) }
