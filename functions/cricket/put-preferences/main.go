// Command put-preferences stores which alerts the caller wants.
package main

import (
	_ "time/tzdata"

	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.PutPreferencesFunction, follower.OpenSettings, (*follower.Settings).PutPreferences)
}
