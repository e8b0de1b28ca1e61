package main

import "matchday/pkg/commitcollect/link"

func main() { link.ConnectStravaFunction().Start() }
