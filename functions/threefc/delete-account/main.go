package main

import "matchday/pkg/threefc/profile"

func main() { profile.DeleteAccountFunction().Start() }
