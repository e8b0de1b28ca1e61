// Command remind-session asks for a mail to each player of a session who has not said whether to play.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.Queue(notice.RemindSessionFunction, notice.OpenNotifier, (*notice.Notifier).RemindSession)
}
