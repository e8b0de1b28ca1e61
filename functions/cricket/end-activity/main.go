// Command end-activity stops updating a Live Activity of the caller.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.EndActivityFunction, cricket.OpenActivities, (*cricket.Activities).EndActivity)
}
