package main

import (
	_ "time/tzdata"

	"matchday/pkg/cricket/alert"
)

func main() { alert.SendAlertsFunction().Start() }
