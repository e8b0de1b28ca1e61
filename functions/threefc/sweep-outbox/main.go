package main

import "matchday/pkg/threefc/standing"

func main() { standing.SweepOutboxFunction().Start() }
