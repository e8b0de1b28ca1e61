package main

import "matchday/pkg/accounts"

func main() { accounts.GetExportFunction().Start() }
