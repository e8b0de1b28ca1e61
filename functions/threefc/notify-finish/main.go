// Command notify-finish asks for a mail to each user who has played in a finished game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.Queue(notice.NotifyFinishFunction, notice.OpenNotifier, (*notice.Notifier).NotifyFinish)
}
