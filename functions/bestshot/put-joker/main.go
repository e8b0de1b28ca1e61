package main

import "matchday/pkg/bestshot/guess"

func main() { guess.PutJokerFunction().Start() }
