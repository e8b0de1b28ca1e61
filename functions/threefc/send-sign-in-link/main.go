package main

import "matchday/pkg/threefc/signin"

func main() { signin.SendLinkFunction().Start() }
