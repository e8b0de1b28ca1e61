// Command get-score returns the points of a member in a tournament.
package main

import (
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/kit/app"
)

func main() { app.API(guess.GetScoreFunction, guess.Open, (*guess.Guesses).GetScore) }
