// Command get-season returns a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.GetSeasonFunction, season.Open, (*season.Service).GetSeason)
}
