// Command get-standings answers with the standings of a year.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.GetStandingsFunction, pickem.OpenEvents, (*pickem.Events).GetStandings)
}
