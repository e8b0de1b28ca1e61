package main

import "matchday/pkg/cricket/activity"

func main() { activity.EndActivityFunction().Start() }
