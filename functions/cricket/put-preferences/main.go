package main

import (
	_ "time/tzdata"

	"matchday/pkg/cricket/follower"
)

func main() { follower.PutPreferencesFunction().Start() }
