// Command delete-match takes a match off a card.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.DeleteMatchFunction, pickem.OpenEvents, (*pickem.Events).DeleteMatch) }
