package main

import "matchday/pkg/cricket/home"

func main() { home.ListActivitiesFunction().Start() }
