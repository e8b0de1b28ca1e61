// Command patch-tournaments changes the tournaments that a league follows.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(league.PatchTournamentsFunction, league.Open, (*league.Leagues).PatchTournaments)
}
