// Command update-season changes the name, the slug, the dates or the time zone of a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.UpdateSeasonFunction, season.Open, (*season.Service).UpdateSeason)
}
