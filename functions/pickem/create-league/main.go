// Command create-league makes a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.CreateLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).CreateLeague)
}
