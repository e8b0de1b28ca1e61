// Command join-league makes the caller a member of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() { app.API(league.JoinLeagueFunction, league.OpenLeagues, (*league.Leagues).JoinLeague) }
