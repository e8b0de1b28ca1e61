package main

import "matchday/pkg/threefc/standing"

func main() { standing.AggregateSeasonFunction().Start() }
