// Command get-results answers with a scored event and everybody's scores.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetResultsFunction, pickem.OpenEvents, (*pickem.Events).GetResults) }
