package main

import "matchday/pkg/cricket/follower"

func main() { follower.ListSubscriptionsFunction().Start() }
