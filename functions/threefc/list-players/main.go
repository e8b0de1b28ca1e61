// Command list-players returns the players of a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.ListPlayersFunction, player.Open, (*player.Service).ListPlayers)
}
