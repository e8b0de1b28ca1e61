// Command put-predictions saves the caller's prediction of an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.PutPredictionsFunction, pickem.OpenEvents, (*pickem.Events).PutPredictions)
}
