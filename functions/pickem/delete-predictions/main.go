// Command delete-predictions withdraws the caller's prediction of an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.DeletePredictionsFunction, pickem.OpenEvents, (*pickem.Events).DeletePredictions)
}
