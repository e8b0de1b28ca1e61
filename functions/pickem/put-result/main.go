// Command put-result says how a match ended.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.PutResultFunction, event.OpenEvents, (*event.Events).PutResult) }
