package main

import "matchday/pkg/accounts"

func main() { accounts.FinishJobFunction().Start() }
