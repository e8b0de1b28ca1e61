package main

import "matchday/pkg/commitcollect/milestone"

func main() { milestone.SettleMilestonesFunction().Start() }
