package main

import "matchday/pkg/threefc/takedown"

func main() { takedown.Function().Start() }
