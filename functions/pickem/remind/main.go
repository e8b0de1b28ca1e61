// Command remind reminds members to pick.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/notice"
)

func main() { app.Job(notice.RemindFunction, notice.OpenReminder, (*notice.Reminder).Remind) }
