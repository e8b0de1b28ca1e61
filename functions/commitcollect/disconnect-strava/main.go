// Command disconnect-strava ends the connection to Strava.
package main

import (
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/kit/app"
)

func main() { app.API(link.DisconnectStravaFunction, link.Open, (*link.Service).DisconnectStrava) }
