// Command rebuild-standings makes the standings of a year anew.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/score"
)

func main() {
	app.Task(score.RebuildStandingsFunction, score.OpenScorer, (*score.Scorer).RebuildStandings)
}
