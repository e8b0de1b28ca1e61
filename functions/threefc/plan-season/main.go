package main

import "matchday/pkg/threefc/plan"

func main() { plan.PlanSeasonFunction().Start() }
