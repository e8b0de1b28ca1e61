// Package cost is the cost model of CommitCollect: what a month costs for so many users.
package cost

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/commitcollect"
)

// kept are the units of DynamoDB that the tests of the room count.
//
//go:embed counters.json
var kept []byte

// Model is the room's part of the cost model.
var Model = usage.Model{Kept: kept, AtRest: 5.95, Report: report}

// What is assumed of each user and month. The notes of the report list it.
const (
	workouts = 20.0 // webhooks, of which a quarter comes twice
	repeated = 1.25
	views    = 60.0 // requests of the app
	nights   = 30.4
	parts    = 1.0
	waits    = 4.0 // messages until a workout has settled, in an hour
)

// counters are the units of one use each, with 300 workouts.
type counters struct{ Event, Evaluation, View, Night, Part units }

type units struct{ Reads, Writes float64 }

func report(in usage.Input) (usage.Report, error) {
	var c counters
	if err := json.Unmarshal(in.Counters, &c); err != nil {
		return usage.Report{}, err
	}

	fixed, err := usage.Fixed(commitcollect.Room().Spec, usage.JobReads)
	if err != nil {
		return usage.Report{}, err
	}

	metrics := usage.Emitted(commitcollect.Room().Spec, usage.HoursOfMonth)
	rows := [][]string{{"users", "fixed", "metrics", "workouts", "nights", "views", "parts", "TOTAL", "a user"}}

	for _, n := range []float64{20, 1_000, 100_000} {
		row, total := []string{usage.Grouped(n)}, usage.Usage{}
		for _, u := range []usage.Usage{fixed, metrics, c.workouts(n), c.nights(n), c.views(n), c.parts(n)} {
			row, total = append(row, usage.Dollars(u.Dollars(in.Prices))), total.Plus(u)
		}

		dollars := total.Dollars(in.Prices)
		rows = append(rows, append(row, usage.Dollars(dollars), fmt.Sprintf("%.4f", dollars/n)))
	}

	return usage.Report{
		Title: "CommitCollect.",
		Rows:  rows,
		Notes: fmt.Sprintf(`metrics    %s
workouts   %g of each user, each %g webhooks: received, fetched, stored and counted,
           and counted again when it has settled: a message waits for that, for 15 minutes at a time
nights     a look at Strava for what was lost, and once a week for the whole year
views      %g requests of the app by each user
parts      %g of each user, with a notice
docs/deploy.md says how many users Strava's limits bear, and what to ask it for.
`, usage.EmittedNote, workouts, repeated, views, parts),
	}, nil
}

// calls is n invocations of functions with 256 MB that take so many seconds.
func calls(n, takes float64) usage.Usage {
	return usage.Usage{LambdaRequests: n, LambdaGBSeconds: n * takes / 4, Traces: usage.Traced(n), InitGBSeconds: usage.Init(n, 0.25)}
}

func (c counters) workouts(users float64) usage.Usage {
	n := users * workouts
	u := calls(n*repeated, 0.02).Plus(calls(n*repeated, 0.6)).Plus(calls(2*n, 0.1)).Plus(calls(waits*n, 0.01))
	u.APIRequests, u.SQSRequests = n*repeated, 3*(2*n*repeated+(waits+1)*n)
	u.ReadUnits, u.WriteUnits = n*(c.Event.Reads+2*c.Evaluation.Reads), n*(c.Event.Writes+2*c.Evaluation.Writes)

	return u
}

func (c counters) nights(users float64) usage.Usage {
	n := users * nights
	u := calls(n, 0.8)
	u.SQSRequests, u.ReadUnits, u.WriteUnits = 6*n, n*c.Night.Reads, n*c.Night.Writes

	return u
}

func (c counters) views(users float64) usage.Usage {
	n := users * views
	u := calls(n, 0.02)
	u.APIRequests, u.ReadUnits, u.WriteUnits, u.EgressGB = n, n*c.View.Reads, n*c.View.Writes, n*4e-6

	return u
}

func (c counters) parts(users float64) usage.Usage {
	n := users * parts
	u := calls(n, 0.2)
	u.SQSRequests, u.ReadUnits, u.WriteUnits = 3*n, n*c.Part.Reads, n*c.Part.Writes

	return u
}
