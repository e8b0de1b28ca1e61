// Command put-preferences stores which alerts the caller wants.
package main

import (
	_ "time/tzdata" // the Lambda runtime has no time zones

	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.PutPreferencesFunction, cricket.OpenSettings, (*cricket.Settings).PutPreferences)
}
