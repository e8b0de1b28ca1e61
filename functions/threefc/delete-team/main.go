// Command delete-team deletes a team of a season. Games keep it.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.DeleteTeamFunction, season.Open, (*season.Service).DeleteTeam)
}
