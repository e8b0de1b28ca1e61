package main

import "matchday/pkg/threefc/web"

func main() { web.ShowIconFunction().Start() }
