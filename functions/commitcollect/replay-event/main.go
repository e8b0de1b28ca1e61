package main

import "matchday/pkg/commitcollect/workout"

func main() { workout.ReplayEventFunction().Start() }
