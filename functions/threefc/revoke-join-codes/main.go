// Command revoke-join-codes ends all codes by which players join a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.RevokeCodesFunction, player.Open, (*player.Service).RevokeCodes)
}
