// Command get-preferences answers with the alerts that the caller wants.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.GetPreferencesFunction, follower.OpenSettings, (*follower.Settings).GetPreferences)
}
