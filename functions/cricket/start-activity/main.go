package main

import "matchday/pkg/cricket/activity"

func main() { activity.StartActivityFunction().Start() }
