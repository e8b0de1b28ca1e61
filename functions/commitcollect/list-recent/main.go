package main

import "matchday/pkg/commitcollect/workout"

func main() { workout.ListRecentFunction().Start() }
