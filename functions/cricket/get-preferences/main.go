// Command get-preferences answers with the alerts that the caller wants.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.GetPreferencesFunction, cricket.OpenSettings, (*cricket.Settings).GetPreferences)
}
