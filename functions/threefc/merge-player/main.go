// Command merge-player makes two players one, who are the same person.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/player"
)

func main() {
	app.API(player.MergePlayerFunction, player.Open, (*player.Service).MergePlayer)
}
