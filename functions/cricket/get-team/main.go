// Command get-team answers with one team.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.GetTeamFunction, catalog.OpenReference, (*catalog.Reference).GetTeam)
}
