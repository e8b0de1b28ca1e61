// Command get-league-score returns a page of the table of a league.
package main

import (
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
)

func main() { app.API(league.GetScoreFunction, league.OpenTables, (*league.Tables).GetScore) }
