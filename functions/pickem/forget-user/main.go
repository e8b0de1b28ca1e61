package main

import "matchday/pkg/pickem/userdata"

func main() { userdata.ForgetUserFunction().Start() }
