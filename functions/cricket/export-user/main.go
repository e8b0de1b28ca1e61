package main

import "matchday/pkg/cricket/userdata"

func main() { userdata.ExportUserFunction().Start() }
