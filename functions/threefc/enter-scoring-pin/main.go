package main

import "matchday/pkg/threefc/score"

func main() { score.EnterPINFunction().Start() }
