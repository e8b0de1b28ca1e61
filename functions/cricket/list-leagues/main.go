// Command list-leagues answers with all leagues.
package main

import (
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(catalog.ListLeaguesFunction, catalog.OpenReference, (*catalog.Reference).ListLeagues)
}
