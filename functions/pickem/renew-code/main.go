// Command renew-code gives a league a new code.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.RenewCodeFunction, pickem.OpenLeagues, (*pickem.Leagues).RenewCode) }
