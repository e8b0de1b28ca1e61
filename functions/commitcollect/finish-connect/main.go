package main

import "matchday/pkg/commitcollect/link"

func main() { link.FinishConnectFunction().Start() }
