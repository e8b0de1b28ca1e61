// Command score-event scores an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.Queue(pickem.ScoreEventFunction, pickem.OpenScorer, (*pickem.Scorer).ScoreEvent) }
