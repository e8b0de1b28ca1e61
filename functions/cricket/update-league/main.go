// Command update-league changes what is an administrator's of a league.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.UpdateLeagueFunction, cricket.OpenReference, (*cricket.Reference).UpdateLeague)
}
