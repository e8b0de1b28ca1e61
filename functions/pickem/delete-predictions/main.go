// Command delete-predictions withdraws the caller's prediction of an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() {
	app.API(event.DeletePredictionsFunction, event.OpenEvents, (*event.Events).DeletePredictions)
}
