// Command list-guesses returns the caller's guesses of a round.
package main

import (
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/kit/app"
)

func main() { app.API(guess.ListGuessesFunction, guess.Open, (*guess.Guesses).ListGuesses) }
