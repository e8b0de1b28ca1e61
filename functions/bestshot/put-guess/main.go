// Command put-guess stores the caller's guess of a match.
package main

import (
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/kit/app"
)

func main() { app.API(guess.PutGuessFunction, guess.Open, (*guess.Guesses).PutGuess) }
