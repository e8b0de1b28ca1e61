// Command get-league answers with a league and its members.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).GetLeague) }
