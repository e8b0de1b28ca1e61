// Command update-preferences changes what the caller has chosen: units, which workouts count, and whether they are kept.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(profile.UpdatePreferencesFunction, profile.Open, (*profile.Service).UpdatePreferences)
}
