package main

import "matchday/pkg/bestshot/settlement"

func main() { settlement.CloseDeadLetterFunction().Start() }
