// Command get-match answers with one match in full.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.API(cricket.GetMatchFunction, cricket.OpenMatches, (*cricket.Matches).GetMatch) }
