// Command list-season-teams answers with the teams of a season.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.ListSeasonTeamsFunction, catalog.OpenReference, (*catalog.Reference).ListSeasonTeams)
}
