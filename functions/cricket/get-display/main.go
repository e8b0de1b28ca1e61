// Command get-display answers with what a lock screen shows of a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.API(cricket.GetDisplayFunction, cricket.OpenMatches, (*cricket.Matches).GetDisplay) }
