// Command put-team creates or changes a team of a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.PutTeamFunction, season.Open, (*season.Service).PutTeam)
}
