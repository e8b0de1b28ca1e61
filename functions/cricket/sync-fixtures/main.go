package main

import "matchday/pkg/cricket/schedule"

func main() { schedule.SyncFixturesFunction().Start() }
