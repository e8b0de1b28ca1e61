package main

import "matchday/pkg/cricket/match"

func main() { match.GetScorecardFunction().Start() }
