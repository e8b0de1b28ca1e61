package main

import "matchday/pkg/bestshot/profile"

func main() { profile.ForgetUserFunction().Start() }
