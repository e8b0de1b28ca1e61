package main

import "matchday/pkg/pickem/event"

func main() { event.ImportFunction().Start() }
