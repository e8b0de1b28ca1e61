// Command get-league answers with a league and its members.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() { app.API(league.GetLeagueFunction, league.OpenLeagues, (*league.Leagues).GetLeague) }
