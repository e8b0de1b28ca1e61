package main

import "matchday/pkg/cricket/match"

func main() { match.ListTeamMatchesFunction().Start() }
