// Command send-notices sends a notification to members.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.Queue(pickem.SendNoticesFunction, pickem.OpenNotifier, (*pickem.Notifier).SendNotices)
}
