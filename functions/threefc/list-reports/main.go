package main

import "matchday/pkg/threefc/report"

func main() { report.ListReportsFunction().Start() }
