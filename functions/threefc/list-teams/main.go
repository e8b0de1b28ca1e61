// Command list-teams returns the teams of a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.ListTeamsFunction, season.Open, (*season.Service).ListTeams)
}
