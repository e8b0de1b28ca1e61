// Command show-season-page shows the standings, the scorers and the games of a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.ShowSeasonFunction, public.Open, (*public.Service).ShowSeason)
}
