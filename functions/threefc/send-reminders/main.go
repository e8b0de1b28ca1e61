package main

import (
	_ "time/tzdata"

	"matchday/pkg/threefc/notice"
)

func main() { notice.SendRemindersFunction().Start() }
