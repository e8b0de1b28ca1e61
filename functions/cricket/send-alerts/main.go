// Command send-alerts tells the followers of a match of one event.
package main

import (
	_ "time/tzdata" // the Lambda runtime has no time zones

	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(cricket.SendAlertsFunction, cricket.OpenAlerter, (*cricket.Alerter).SendAlert)
}
