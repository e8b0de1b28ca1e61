// Command put-preferences chooses which mails the caller gets.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/notice"
)

func main() {
	app.API(notice.PutPreferencesFunction, notice.Open, (*notice.Service).PutPreferences)
}
