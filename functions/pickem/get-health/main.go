// Command get-health says that the API answers.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetHealthFunction, pickem.OpenEvents, (*pickem.Events).GetHealth) }
