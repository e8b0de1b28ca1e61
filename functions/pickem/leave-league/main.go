// Command leave-league takes a member out of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.LeaveLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).LeaveLeague)
}
