// Command send-notices sends a notification to members.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/notice"
)

func main() {
	app.Queue(notice.SendNoticesFunction, notice.OpenNotifier, (*notice.Notifier).SendNotices)
}
