package main

import "matchday/pkg/threefc/organise"

func main() { organise.ShowLeagueFunction().Start() }
