// Command request-score has an event scored.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.RequestScoreFunction, pickem.OpenEvents, (*pickem.Events).RequestScore)
}
