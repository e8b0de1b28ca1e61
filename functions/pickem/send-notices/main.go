package main

import "matchday/pkg/pickem/notice"

func main() { notice.SendNoticesFunction().Start() }
