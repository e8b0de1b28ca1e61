// Command update-team changes what is an administrator's of a team.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.UpdateTeamFunction, cricket.OpenReference, (*cricket.Reference).UpdateTeam)
}
