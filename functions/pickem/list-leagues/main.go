// Command list-leagues answers with the leagues of the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.ListLeaguesFunction, league.OpenLeagues, (*league.Leagues).ListLeagues)
}
