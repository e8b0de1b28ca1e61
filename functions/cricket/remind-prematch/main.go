package main

import "matchday/pkg/cricket/alert"

func main() { alert.RemindPrematchFunction().Start() }
