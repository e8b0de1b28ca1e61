// Command delete-league removes a league that the provider has no more.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.DeleteLeagueFunction, catalog.OpenReference, (*catalog.Reference).DeleteLeague)
}
