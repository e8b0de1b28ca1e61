// Command get-health answers a monitor.
package main

import (
	"matchday/pkg/bestshot/profile"
	"matchday/pkg/kit/app"
)

func main() { app.API(profile.GetHealthFunction, profile.OpenMonitor, (*profile.Monitor).GetHealth) }
