// Command rebuild-standings makes the standings of a year anew.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.Task(pickem.RebuildStandingsFunction, pickem.OpenScorer, (*pickem.Scorer).RebuildStandings)
}
