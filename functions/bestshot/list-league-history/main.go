package main

import "matchday/pkg/bestshot/league"

func main() { league.ListHistoryFunction().Start() }
