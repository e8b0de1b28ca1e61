// Command send-mail mails a user about a finished game or tomorrow's session, once.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.Queue(notice.SendMailFunction, notice.OpenMailer, (*notice.Mailer).SendMail)
}
