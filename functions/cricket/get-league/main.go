// Command get-league answers with one league.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.GetLeagueFunction, catalog.OpenReference, (*catalog.Reference).GetLeague)
}
