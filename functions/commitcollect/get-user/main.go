package main

import "matchday/pkg/commitcollect/profile"

func main() { profile.GetUserFunction().Start() }
