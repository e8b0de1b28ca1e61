// Package cost is the cost model of Best Shot: what a month of a season costs for so many
// members.
package cost

import (
	"fmt"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/bestshot"
)

// Model is the room's part of the cost model. At rest it pays for the database, the cache and the
// endpoint through which functions reach their queues.
var Model = usage.Model{Kept: []byte(`{}`), AtRest: 69.05, Report: report}

// The assumptions about a month of a season, and about each member.
const (
	matches  = 120.0 // of three leagues
	together = 5.0   // matches of a round on the same day, which one poll asks for
	polls    = 200.0 // for a round on a day: see polling
	guesses  = 60.0  // of a member: half of the matches
	views    = 200.0 // of leaderboards, rounds and standings by a member
	seconds  = 0.03  // of a request, with the connection to the database
	pageKB   = 12.0  // of a page of a projection
	rowPages = 0.02  // pages read and written for a row, as most are in memory
	perACU   = 600.0 // statements a second
	busy     = 20.0  // hours in which matches begin and end
)

func report(in usage.Input) (usage.Report, error) {
	fixed, err := usage.Fixed(bestshot.Room().Spec, 0)
	if err != nil {
		return usage.Report{}, err
	}

	rows := [][]string{{"members", "fixed", "polls", "guesses", "settling", "views", "TOTAL", "a member"}}

	for _, n := range []float64{100, 10_000, 100_000} {
		row, total := []string{usage.Grouped(n)}, usage.Usage{}
		for _, u := range []usage.Usage{fixed, polling(), guessing(n), settling(n), viewing(n)} {
			row, total = append(row, usage.Dollars(u.Dollars(in.Prices))), total.Plus(u)
		}

		dollars := total.Dollars(in.Prices)
		rows = append(rows, append(row, usage.Dollars(dollars), fmt.Sprintf("%.4f", dollars/n)))
	}

	rest := usage.Usage{
		SQLHours:      fixed.SQLHours,
		SQLStorageGB:  fixed.SQLStorageGB,
		CacheGBHours:  fixed.CacheGBHours,
		EndpointHours: fixed.EndpointHours,
	}

	return usage.Report{
		Title: "Best Shot.",
		Rows:  rows,
		Notes: fmt.Sprintf(`fixed      in production, also without a season; %s $ of it for the database at 0.5 ACU, the cache and the endpoint
           of the queues in two zones. Other stages pause the database while no tournament is upcoming or active
polls      %g on each of %g days with a round of %g matches: for the matches every 5 minutes from the kick-off until 6 h
           after the end, and hourly on the day before; for the standings every 5 minutes in the 6 h after the end
guesses    %g of each member
settling   a row of the ledger and of two scoreboards for each guess, and the leaderboard anew
views      %g of each member, %g KB each, from the cache
The database grows over 0.5 ACU for the statements over %g a second, in the %g hours in which matches begin and end.
All numbers are assumed, also the statements and the duration of a request. The polls are those of the plan.
`, usage.Dollars(rest.Dollars(in.Prices)), polls, matches/together, together, guesses, views, pageKB, perACU/2, busy),
	}, nil
}

// calls is n invocations of functions with 256 MB that take so many seconds.
func calls(n, takes float64) usage.Usage {
	return usage.Usage{LambdaRequests: n, LambdaGBSeconds: n * takes / 4, Traces: usage.Traced(n), InitGBSeconds: usage.Init(n, 0.25)}
}

// statements is n statements in the busy hours, each of one row. Capacity above 0.5 ACU is billed.
func statements(n float64) usage.Usage {
	rate := n / (busy * 3600)
	return usage.Usage{SQLPages: n * rowPages, SQLHours: max(rate/perACU-0.5, 0) * busy}
}

// polling is the usage of the polls that ingest.PlanPolls plans. A round with a match of 2 h is asked
// for 96 times from the kick-off until 6 h after the end, every 5 minutes, and 24 times on the day
// before. In the 6 h after the end the standings are asked for 72 times, and the rounds of the
// tournament 6 times in the first 3 h, and once a day.
func polling() usage.Usage {
	n := matches / together * polls
	u := calls(n, 0.3).Plus(calls(n, 0.2)).Plus(statements(n * 40))
	u.SQSRequests, u.CacheUnits, u.EndpointGB = 8*n, 2*n, n*30e-6

	return u
}

func guessing(members float64) usage.Usage {
	n := members * guesses
	u := calls(n, seconds).Plus(statements(n * 4))
	u.APIRequests, u.ReadUnits = n, n

	return u
}

func settling(members float64) usage.Usage {
	n := members * guesses
	u := calls(matches, 5).Plus(statements(n * 4))
	u.SQSRequests = 4 * matches
	u.CacheUnits = matches * members * 0.12 // KB of a member in the leaderboard

	return u
}

func viewing(members float64) usage.Usage {
	n := members * views
	u := calls(n, 0.01)
	u.APIRequests, u.CacheUnits, u.EgressGB = n, n*pageKB, n*pageKB*1e-6

	return u
}
