// Command remind reminds members to pick.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.Job(pickem.RemindFunction, pickem.OpenReminder, (*pickem.Reminder).Remind) }
