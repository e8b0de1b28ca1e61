// Command join-league makes the caller a member of a league.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.JoinLeagueFunction, league.Open, (*league.Leagues).JoinLeague) }
