package main

import "matchday/pkg/threefc/profile"

func main() { profile.ExportUserFunction().Start() }
