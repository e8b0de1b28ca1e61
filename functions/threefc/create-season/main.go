// Command create-season creates a season of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.CreateSeasonFunction, season.Open, (*season.Service).CreateSeason)
}
