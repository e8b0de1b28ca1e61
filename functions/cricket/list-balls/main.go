// Command list-balls answers with the balls of a match.
package main

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func main() { app.API(match.ListBallsFunction, match.OpenMatches, (*match.Matches).ListBalls) }
