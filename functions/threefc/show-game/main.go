// Command show-game returns a game to everybody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.GetGameFunction, public.Open, (*public.Service).GetGame)
}
