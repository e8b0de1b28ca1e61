// Command send-notices tells the phones of a user that a part was minted.
package main

import (
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(notice.SendNoticesFunction, notice.OpenNotifier, (*notice.Notifier).SendNotice)
}
