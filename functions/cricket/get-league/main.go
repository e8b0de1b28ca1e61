// Command get-league answers with one league.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.GetLeagueFunction, cricket.OpenReference, (*cricket.Reference).GetLeague)
}
