// Command list-leagues answers with all leagues.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.ListLeaguesFunction, cricket.OpenReference, (*cricket.Reference).ListLeagues)
}
