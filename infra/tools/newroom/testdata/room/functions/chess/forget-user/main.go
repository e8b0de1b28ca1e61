package main

import "matchday/pkg/chess"

func main() { chess.ForgetUserFunction().Start() }
