package main

import "matchday/pkg/bestshot/userdata"

func main() { userdata.ExportUserFunction().Start() }
