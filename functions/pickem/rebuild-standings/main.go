package main

import "matchday/pkg/pickem/score"

func main() { score.RebuildStandingsFunction().Start() }
