// Command delete-league removes a league that the provider has no more.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.DeleteLeagueFunction, cricket.OpenReference, (*cricket.Reference).DeleteLeague)
}
