// Command list-leagues returns the caller's leagues.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.ListLeaguesFunction, league.Open, (*league.Leagues).ListLeagues) }
