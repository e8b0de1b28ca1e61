package main

import "matchday/pkg/bestshot/profile"

func main() { profile.GetHealthFunction().Start() }
