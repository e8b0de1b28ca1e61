package main

import "matchday/pkg/threefc/organise"

func main() { organise.ShowHomeFunction().Start() }
