package main

import "matchday/pkg/pickem/userdata"

func main() { userdata.ExportUserFunction().Start() }
