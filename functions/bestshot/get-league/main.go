// Command get-league returns a league of the caller.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.GetLeagueFunction, league.Open, (*league.Leagues).GetLeague) }
