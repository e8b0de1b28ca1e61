// Command get-display answers with what a lock screen shows of a match.
package main

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func main() { app.API(match.GetDisplayFunction, match.OpenMatches, (*match.Matches).GetDisplay) }
