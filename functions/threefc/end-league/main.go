package main

import "matchday/pkg/threefc/league"

func main() { league.EndLeagueFunction().Start() }
