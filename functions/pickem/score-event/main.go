package main

import "matchday/pkg/pickem/score"

func main() { score.ScoreEventFunction().Start() }
