// Command show-leaders returns the players of a season who have scored most to everybody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.GetLeadersFunction, public.Open, (*public.Service).GetLeaders)
}
