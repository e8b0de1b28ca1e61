// Command leave-league ends the caller's membership in a league.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.LeaveLeagueFunction, league.Open, (*league.Leagues).LeaveLeague) }
