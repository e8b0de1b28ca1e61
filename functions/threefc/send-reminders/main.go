// Command send-reminders has the players of tomorrow's sessions reminded.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.Job(notice.SendRemindersFunction, notice.OpenNotifier, (*notice.Notifier).SendReminders)
}
