// Command delete-season deletes a season without sessions.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.DeleteSeasonFunction, season.Open, (*season.Service).DeleteSeason)
}
