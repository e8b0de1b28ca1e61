// Command list-balls answers with the balls of a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.API(cricket.ListBallsFunction, cricket.OpenMatches, (*cricket.Matches).ListBalls) }
