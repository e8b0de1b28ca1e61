package main

import "matchday/pkg/bestshot/notice"

func main() { notice.SendNoticesFunction().Start() }
