// Command list-teams answers with all teams.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.ListTeamsFunction, catalog.OpenReference, (*catalog.Reference).ListTeams)
}
