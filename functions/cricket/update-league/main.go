// Command update-league changes what is an administrator's of a league.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.UpdateLeagueFunction, catalog.OpenReference, (*catalog.Reference).UpdateLeague)
}
