// Command list-leaderboard returns a page of the leaderboard.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.ListLeaderboardFunction, tournament.Open, (*tournament.Tournaments).ListLeaderboard)
}
