// Command update-team changes what is an administrator's of a team.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.UpdateTeamFunction, catalog.OpenReference, (*catalog.Reference).UpdateTeam)
}
