// Command hydrate-scoreboards rebuilds the leaderboards of all active tournaments.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.HydrateScoreboardsFunction, settlement.OpenOffice, (*settlement.Office).HydrateScoreboards)
}
