// Command join-league makes the caller a member of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.JoinLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).JoinLeague) }
