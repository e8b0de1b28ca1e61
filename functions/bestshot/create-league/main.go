// Command create-league creates a league of the caller.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.CreateLeagueFunction, league.Open, (*league.Leagues).CreateLeague) }
