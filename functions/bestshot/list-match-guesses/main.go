// Command list-match-guesses returns the guesses of a match that has begun.
package main

import (
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/kit/app"
)

func main() { app.API(guess.ListMatchGuessesFunction, guess.Open, (*guess.Guesses).ListMatchGuesses) }
