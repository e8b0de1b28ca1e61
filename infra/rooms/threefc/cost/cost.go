// Package cost is the cost model of 3FC: what a month costs for so many leagues.
package cost

import (
	"fmt"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/threefc"
)

// Model is the room's part of the cost model.
var Model = usage.Model{Kept: []byte(`{}`), AtRest: 3.25, Report: report}

// What is assumed of each league and month.
const (
	games = 12.0
	goals = 15.0 // of each game
	views = 2_000.0

	goalReads, goalWrites = 9.0, 12.0 // units of a goal
	gameReads, gameWrites = 400.0, 260.0
	viewReads             = 3.0
)

func report(in usage.Input) (usage.Report, error) {
	fixed, err := usage.Fixed(threefc.Room().Spec, usage.JobReads)
	if err != nil {
		return usage.Report{}, err
	}

	rows := [][]string{{"leagues", "fixed", "games", "views", "TOTAL", "a league"}}

	for _, n := range []float64{10, 1_000, 10_000} {
		played, seen := n*games, n*views
		calls := played * (goals + 30)
		work := usage.Usage{
			APIRequests:     calls,
			LambdaRequests:  calls,
			LambdaGBSeconds: calls * 0.05 / 4,
			Traces:          usage.Traced(calls),
			InitGBSeconds:   usage.Init(calls, 0.25),
			ReadUnits:       played * (goals*goalReads + gameReads),
			WriteUnits:      played * (goals*goalWrites + gameWrites),
			SQSRequests:     played * 6,
		}
		view := usage.Usage{
			APIRequests:     seen,
			LambdaRequests:  seen,
			LambdaGBSeconds: seen * 0.02 / 4,
			Traces:          usage.Traced(seen),
			InitGBSeconds:   usage.Init(seen, 0.25),
			ReadUnits:       seen * viewReads,
			EgressGB:        seen * 8e-6,
		}
		total := fixed.Plus(work).Plus(view).Dollars(in.Prices)
		rows = append(rows, []string{usage.Grouped(n), usage.Dollars(fixed.Dollars(in.Prices)), usage.Dollars(work.Dollars(in.Prices)),
			usage.Dollars(view.Dollars(in.Prices)), usage.Dollars(total), fmt.Sprintf("%.4f", total/n)})
	}

	return usage.Report{
		Title: "3FC.",
		Rows:  rows,
		Notes: fmt.Sprintf(`games   %g of each league, each with %g goals, a roster and the tables of the season
views   %g of the public pages of each league, without a CDN
All numbers are assumed. A goal takes %g read and %g write units of DynamoDB, the rest of a game %g and %g, a view %g read units.
`, games, goals, views, goalReads, goalWrites, gameReads, gameWrites, viewReads),
	}, nil
}
