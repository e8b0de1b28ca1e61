// Command remind-prematch has the followers of a match reminded before it starts.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(cricket.RemindPrematchFunction, cricket.OpenReminder, (*cricket.Reminder).RemindPrematch)
}
