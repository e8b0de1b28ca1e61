package main

import "matchday/pkg/threefc/season"

func main() { season.MoveSessionFunction().Start() }
