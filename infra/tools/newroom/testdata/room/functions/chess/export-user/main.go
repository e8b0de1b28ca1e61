package main

import "matchday/pkg/chess"

func main() { chess.ExportUserFunction().Start() }
