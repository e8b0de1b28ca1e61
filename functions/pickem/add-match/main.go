// Command add-match adds a match to a card.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.AddMatchFunction, pickem.OpenEvents, (*pickem.Events).AddMatch) }
