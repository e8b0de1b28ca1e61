package main

import "matchday/pkg/bestshot/notice"

func main() { notice.SendRemindersFunction().Start() }
