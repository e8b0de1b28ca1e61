package main

import "matchday/pkg/bestshot/profile"

func main() { profile.ExportUserFunction().Start() }
