// Command list-matches answers with the matches asked for.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.ListMatchesFunction, cricket.OpenMatches, (*cricket.Matches).ListMatches)
}
