package main

import "matchday/pkg/pickem/notice"

func main() { notice.RemindFunction().Start() }
