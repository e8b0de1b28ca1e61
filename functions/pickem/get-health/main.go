// Command get-health says that the API answers.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.GetHealthFunction, event.OpenEvents, (*event.Events).GetHealth) }
