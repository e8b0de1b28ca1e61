// Package cost is the cost model of Best Shot: what a month of a season costs for so many
// members.
package cost

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/bestshot"
)

// kept are the counters of the repository. `make bench` counts them anew.
//
//go:embed counters.json
var kept []byte

// Model is the room's part of the cost model. At rest it pays for the database, the cache and the
// endpoint through which functions reach their queues.
var Model = usage.Model{Kept: kept, AtRest: 69.30, Report: report}

// The assumptions about a month of a season, and about each member.
const (
	matches  = 120.0 // of three leagues
	together = 5.0   // matches of a round on the same day, which one poll asks for
	polls    = 200.0 // for a round on a day: see polling
	guesses  = 60.0  // of a member: half of the matches
	views    = 200.0 // of leaderboards, rounds and standings by a member
	seconds  = 0.03  // of a request, with the connection to the database
	rowPages = 0.02  // pages read and written for a row, as most are in memory
	perACU   = 600.0 // statements a second: 4 ACU took 800 guesses of 3 statements
	ofCPU    = 4.0   // ACU of the processor that settles a match on the machine of the benchmark
	busy     = 20.0  // hours in which matches begin and end
)

// counters are what the benchmark measures with so many members: the bytes of a page of the leaderboard, and
// how long calls take.
type counters struct {
	Members, Page float64
	Seconds       map[string]float64
}

const (
	settled    = "a match settled"
	cachedPage = "a page from the cache"
)

// parse reads counters, and reports what is missing.
func parse(text []byte) (c counters, err error) {
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}

	if c.Members == 0 || c.Page == 0 || c.Seconds[settled] == 0 || c.Seconds[cachedPage] == 0 {
		return c, errors.New("the counters lack a settlement or a page: run `make bench`")
	}

	return c, nil
}

func report(in usage.Input) (usage.Report, error) {
	c, err := parse(in.Counters)
	if err != nil {
		return usage.Report{}, err
	}

	fixed, err := usage.Fixed(bestshot.Room().Spec, 0)
	if err != nil {
		return usage.Report{}, err
	}

	metrics := usage.Emitted(bestshot.Room().Spec, usage.HoursOfMonth)
	rows := [][]string{{"members", "fixed", "metrics", "polls", "guesses", "settling", "views", "TOTAL", "a member"}}

	for _, n := range []float64{100, 10_000, 100_000} {
		row, total := []string{usage.Grouped(n)}, usage.Usage{}
		for _, u := range []usage.Usage{fixed, metrics, polling(), guessing(n), c.settling(n), c.viewing(n)} {
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
metrics    %s
polls      %g on each of %g days with a round of %g matches: for the matches every 5 minutes from the kick-off until 6 h
           after the end, and hourly on the day before; for the standings every 5 minutes in the 6 h after the end
guesses    %g of each member
settling   a row of the ledger and of two scoreboards for each guess, and the leaderboard anew: %.2g s of a function and
           of %g ACU for 10,000 members
views      %g of each member, %g KB each, from the cache
The database grows over 0.5 ACU for the statements over %g a second, in the %g hours in which matches begin and end.
The settlement and the page are measured with %s members. What members do is assumed, and the duration of a request with
the connection. The polls are those of the plan.
`, usage.Dollars(rest.Dollars(in.Prices)), usage.EmittedNote, polls, matches/together, together, guesses,
			c.Seconds[settled]*10_000/c.Members, ofCPU, views,
			math.Round(c.Page/100)/10, perACU/2, busy, usage.Grouped(c.Members)),
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
	u := calls(n, seconds).Plus(statements(n * 3))
	u.APIRequests, u.ReadUnits = n, n

	return u
}

// settling is the usage of the settlements. Each takes as long as it is measured, in proportion to the members,
// and the whole of a processor of the database meanwhile.
func (c counters) settling(members float64) usage.Usage {
	took := c.Seconds[settled] * members / c.Members
	u := calls(matches, took).Plus(usage.Usage{
		SQLPages: members * guesses * 4 * rowPages,
		SQLHours: matches * took / 3600 * (ofCPU - 0.5),
	})
	u.SQSRequests = 4 * matches
	u.CacheUnits = matches * members * 0.12 // KB of a member in the leaderboard

	return u
}

// viewing is the usage of the pages that members look at. Beside what is measured Lambda takes 10 ms.
func (c counters) viewing(members float64) usage.Usage {
	n := members * views
	u := calls(n, 0.01+c.Seconds[cachedPage])
	u.APIRequests, u.CacheUnits, u.EgressGB = n, n*math.Ceil(c.Page/usage.Kilobyte), n*c.Page/usage.Gigabyte

	return u
}
