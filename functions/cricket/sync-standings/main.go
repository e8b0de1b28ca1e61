package main

import "matchday/pkg/cricket/catalog"

func main() { catalog.SyncStandingsFunction().Start() }
