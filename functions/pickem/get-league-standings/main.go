package main

import "matchday/pkg/pickem/league"

func main() { league.GetLeagueStandingsFunction().Start() }
