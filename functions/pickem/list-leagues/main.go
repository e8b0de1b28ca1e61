// Command list-leagues answers with the leagues of the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.ListLeaguesFunction, pickem.OpenLeagues, (*pickem.Leagues).ListLeagues)
}
