// Command list-access returns who may do what in a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.ListAccessFunction, league.Open, (*league.Service).ListAccess)
}
