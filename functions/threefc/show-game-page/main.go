// Command show-game-page shows the score and the goals of a game.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.ShowGameFunction, public.Open, (*public.Service).ShowGame)
}
