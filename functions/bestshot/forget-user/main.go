package main

import "matchday/pkg/bestshot/userdata"

func main() { userdata.ForgetUserFunction().Start() }
