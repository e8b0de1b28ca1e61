// Command delete-league ends a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.DeleteLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).DeleteLeague)
}
