package main

import "matchday/pkg/threefc/profile"

func main() { profile.ForgetUserFunction().Start() }
