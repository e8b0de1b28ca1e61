// Command send-alerts tells the followers of a match of one event.
package main

import (
	_ "time/tzdata"

	"matchday/pkg/cricket/alert"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(alert.SendAlertsFunction, alert.OpenAlerter, (*alert.Alerter).SendAlert)
}
