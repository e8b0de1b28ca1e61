package main

import "matchday/pkg/cricket/player"

func main() { player.GetPlayerFunction().Start() }
