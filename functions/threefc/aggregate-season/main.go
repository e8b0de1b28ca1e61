// Command aggregate-season computes the standings and the players' numbers of a season from its finished games.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/standing"
)

func main() {
	app.Queue(standing.AggregateSeasonFunction, standing.Open, (*standing.Aggregator).AggregateSeason)
}
