package main

import "matchday/pkg/threefc/notice"

func main() { notice.ShowPreferencesFunction().Start() }
