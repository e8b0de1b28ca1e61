package main

import "matchday/pkg/cricket/catalog"

func main() { catalog.GetStandingsFunction().Start() }
