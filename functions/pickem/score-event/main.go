// Command score-event scores an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/score"
)

func main() { app.Queue(score.ScoreEventFunction, score.OpenScorer, (*score.Scorer).ScoreEvent) }
