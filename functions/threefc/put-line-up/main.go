package main

import "matchday/pkg/threefc/game"

func main() { game.PutLineUpFunction().Start() }
