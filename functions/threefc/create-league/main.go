// Command create-league creates a league, of which the caller is the administrator.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.CreateLeagueFunction, league.Open, (*league.Service).CreateLeague)
}
