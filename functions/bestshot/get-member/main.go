package main

import "matchday/pkg/bestshot/member"

func main() { member.GetMemberFunction().Start() }
