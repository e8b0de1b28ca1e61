// Command get-match answers with one match in full.
package main

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func main() { app.API(match.GetMatchFunction, match.OpenMatches, (*match.Matches).GetMatch) }
