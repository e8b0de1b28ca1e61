package main

import "matchday/pkg/commitcollect/workout"

func main() { workout.DeleteSubscriptionFunction().Start() }
