// Command remind finds the members who have not guessed a match.
package main

import (
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/app"
)

func main() { app.Job(notice.RemindFunction, notice.OpenReminders, (*notice.Reminders).Remind) }
