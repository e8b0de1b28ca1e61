// Command leave-league takes a member out of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() {
	app.API(league.LeaveLeagueFunction, league.OpenLeagues, (*league.Leagues).LeaveLeague)
}
