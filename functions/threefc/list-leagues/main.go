// Command list-leagues returns the leagues that the caller is in.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.ListLeaguesFunction, league.Open, (*league.Service).ListLeagues)
}
