// Command hydrate-scoreboard rebuilds the leaderboard of a tournament.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.HydrateScoreboardFunction, settlement.OpenOffice, (*settlement.Office).HydrateScoreboard)
}
