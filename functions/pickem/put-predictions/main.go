// Command put-predictions saves the caller's prediction of an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() {
	app.API(event.PutPredictionsFunction, event.OpenEvents, (*event.Events).PutPredictions)
}
