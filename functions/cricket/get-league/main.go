package main

import "matchday/pkg/cricket/catalog"

func main() { catalog.GetLeagueFunction().Start() }
