// Command get-preferences returns which mails the caller gets.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.API(notice.GetPreferencesFunction, notice.Open, (*notice.Service).GetPreferences)
}
