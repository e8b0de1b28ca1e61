// Command list-seasons returns the seasons of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.ListSeasonsFunction, season.Open, (*season.Service).ListSeasons)
}
