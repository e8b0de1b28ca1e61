package main

import "matchday/pkg/cricket/activity"

func main() { activity.PushPartsFunction().Start() }
