// Command list-matches answers with the matches asked for.
package main

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(match.ListMatchesFunction, match.OpenMatches, (*match.Matches).ListMatches)
}
