package main

import "matchday/pkg/commitcollect/signin"

func main() { signin.LogoutFunction().Start() }
