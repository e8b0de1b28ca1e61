package main

import "matchday/pkg/commitcollect/signin"

func main() { signin.FollowLogoutFunction().Start() }
