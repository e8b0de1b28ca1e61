// Command renew-code gives a league a new code.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/league"
)

func main() { app.API(league.RenewCodeFunction, league.OpenLeagues, (*league.Leagues).RenewCode) }
