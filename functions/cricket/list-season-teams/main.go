// Command list-season-teams answers with the teams of a season.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.ListSeasonTeamsFunction, cricket.OpenReference, (*cricket.Reference).ListSeasonTeams)
}
