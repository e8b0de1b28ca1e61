package main

import "matchday/pkg/commitcollect/signin"

func main() { signin.StartLoginFunction().Start() }
