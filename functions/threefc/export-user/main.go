package main

import "matchday/pkg/threefc/userdata"

func main() { userdata.ExportUserFunction().Start() }
