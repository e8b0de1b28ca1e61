package main

import "matchday/pkg/bestshot/member"

func main() { member.UpdateMemberFunction().Start() }
