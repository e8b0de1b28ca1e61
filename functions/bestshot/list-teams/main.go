package main

import "matchday/pkg/bestshot/tournament"

func main() { tournament.ListTeamsFunction().Start() }
