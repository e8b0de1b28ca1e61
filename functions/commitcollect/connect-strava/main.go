// Command connect-strava redirects a browser to Strava, which asks whether it may share the activities.
package main

import (
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/kit/app"
)

func main() { app.API(link.ConnectStravaFunction, link.Open, (*link.Service).ConnectStrava) }
