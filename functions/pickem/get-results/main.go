// Command get-results answers with a scored event and everybody's scores.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.GetResultsFunction, event.OpenEvents, (*event.Events).GetResults) }
