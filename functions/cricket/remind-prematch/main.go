// Command remind-prematch has the followers of a match reminded before it starts.
package main

import (
	"matchday/pkg/cricket/alert"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(alert.RemindPrematchFunction, alert.OpenReminder, (*alert.Reminder).RemindPrematch)
}
