package main

import "matchday/pkg/threefc/player"

func main() { player.LeavePoolFunction().Start() }
