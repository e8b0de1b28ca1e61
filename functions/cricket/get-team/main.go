// Command get-team answers with one team.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.GetTeamFunction, cricket.OpenReference, (*cricket.Reference).GetTeam)
}
