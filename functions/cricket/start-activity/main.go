// Command start-activity has a Live Activity of the caller updated.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.StartActivityFunction, cricket.OpenActivities, (*cricket.Activities).StartActivity)
}
