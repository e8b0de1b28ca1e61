package main

import "matchday/pkg/cricket/live"

func main() { live.CorrectResultFunction().Start() }
