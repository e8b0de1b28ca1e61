package main

import "matchday/pkg/bestshot/health"

func main() { health.GetHealthFunction().Start() }
