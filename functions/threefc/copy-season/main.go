// Command copy-season creates the next season of a league, with the teams of another.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.CopySeasonFunction, season.Open, (*season.Service).CopySeason)
}
