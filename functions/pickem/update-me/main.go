package main

import "matchday/pkg/pickem/member"

func main() { member.UpdateMeFunction().Start() }
