// Command send-reminders reminds a member on all phones.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(notice.SendRemindersFunction, notice.OpenNotifier, (*notice.Notifier).SendReminder)
}
