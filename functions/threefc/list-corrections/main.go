// Command list-corrections returns what was corrected in a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
)

func main() {
	app.API(game.ListAuditFunction, game.Open, (*game.Service).ListAudit)
}
