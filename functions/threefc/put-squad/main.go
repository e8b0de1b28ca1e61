package main

import "matchday/pkg/threefc/season"

func main() { season.PutSquadFunction().Start() }
