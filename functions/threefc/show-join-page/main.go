package main

import "matchday/pkg/threefc/player"

func main() { player.ShowJoinFunction().Start() }
