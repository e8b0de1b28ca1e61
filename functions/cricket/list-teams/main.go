// Command list-teams answers with all teams.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.ListTeamsFunction, cricket.OpenReference, (*cricket.Reference).ListTeams)
}
