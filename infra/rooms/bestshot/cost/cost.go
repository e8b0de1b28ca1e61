// Package cost is the cost model of Best Shot: what a month of a season costs for so many
// members, and how many units of Aurora a final needs.
package cost

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/view"
)

// kept are the counters of the repository. `make bench` counts the page and the seconds anew. The sizes are
// those of `make bench ROOM=bestshot MEMBERS=1000000`.
//
//go:embed counters.json
var kept []byte

// Model is the room's part of the cost model. At rest it pays for the database, the cache and the
// endpoint through which functions reach their queues.
var Model = usage.Model{Kept: kept, AtRest: 70.80, Report: report}

// The assumptions about a month of a season, and about each member.
const (
	matches   = 120.0 // of three leagues
	together  = 5.0   // matches of a round on the same day, which one poll asks for
	polls     = 296.0 // for a round on a day: see polling
	guesses   = 60.0  // of a member: half of the matches
	views     = 200.0 // of leaderboards, rounds and standings by a member
	deep      = 0.05  // of the views, those of another page of a leaderboard than the first
	owns      = 60.0  // reads of the own points and rank by a member, from the database
	corrected = 0.05  // of the matches, those with a corrected result
	voided    = 0.01  // of the matches, those that are void after their settlement
	seconds   = 0.03  // of a request, with the connection to the database
	rowPages  = 0.02  // pages read and written for a row, as most are in memory
	fill      = 3.0   // statements: what a page that is not in the cache takes, 0.8 ms of a processor
	busy      = 20.0  // hours in which matches begin and end
	told      = 12.0  // notices of points to a member: of half of the days with a round
	reminded  = 18.0  // reminders to a member: of the other days, and a second one of a quarter of all days
	ofNotices = 100.0 // members of a message with notices
	sending   = 0.6   // seconds for such a message: ten members at once, 60 ms each for the phones and Apple
	ofPhones  = 0.5   // read units: the phones of a member
	searched  = 48.0  // times that a member is looked at for a reminder: twice for each day with a round
)

// check is the write units of a check that is alone in a transaction:
// https://martinhicks.dev/articles/what-a-conditional-dynamodb-transaction-costs
const check = 2.0

// The assumptions about a final, which all members guess.
const (
	lastMinute = 0.1   // of the members, those who guess in the minute before the kick-off
	minutes    = 5.0   // after the result, in which it is to be settled
	asked      = 2.0   // statements for each member in these minutes: the own points and the own rank
	cores      = 2.0   // of the machine of the benchmark
	perCore    = 4.0   // ACU of a core: an ACU is taken as a quarter of one
	leastACU   = 0.5   // of the cluster in production
	ofMessage  = 100.0 // ranges of guesses that a message settles before it is sent again
)

// counters are what the benchmark measures: the bytes of a page of the leaderboard as the API answers it, how
// long calls take, and what grows with the members.
type counters struct {
	Page    float64
	Seconds map[string]float64
	Sizes   []size // ascending
}

// size is what is measured in a tournament of so many members, all of whom have guessed a final.
type size struct {
	Members                  float64
	Settled, Corrected, Void settling
	Guesses                  float64 // a second, that two cores store
	Cached                   float64 // bytes of a page of the leaderboard in the cache
}

// settling is a settlement of a match.
type settling struct {
	Seconds float64 // of a function, for all guesses
	CPU     float64 // seconds of a core of PostgreSQL for a guess
}

// lacks reports whether a figure is missing.
func (s size) lacks() bool {
	figures := []float64{s.Members, s.Guesses, s.Cached}
	for _, k := range s.settlements() {
		figures = append(figures, k.Seconds, k.CPU)
	}

	return slices.Contains(figures, 0)
}

const cachedPage = "a page from the cache"

// parse reads counters, and reports what is missing.
func parse(text []byte) (c counters, err error) {
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}

	if c.Page == 0 || c.Seconds[cachedPage] == 0 {
		return c, errors.New("the counters lack a page: run `make bench`")
	}

	if len(c.Sizes) == 0 || slices.ContainsFunc(c.Sizes, size.lacks) {
		return c, errors.New("the counters lack a size, or a part of one: run `make bench ROOM=bestshot MEMBERS=1000000`")
	}

	return c, nil
}

// of returns the smallest size with so many members, and the largest for more.
func (c counters) of(members float64) size {
	for _, s := range c.Sizes {
		if s.Members >= members {
			return s
		}
	}

	return c.Sizes[len(c.Sizes)-1]
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
	rows := [][]string{
		{"members", "fixed", "metrics", "polls", "guesses", "settling", "notices", "views", "database", "TOTAL", "a member", "ACU at a final"},
	}

	for _, n := range []float64{100, 10_000, 100_000, 1_000_000} {
		s := c.of(n)
		row, total := []string{usage.Grouped(n)}, usage.Usage{}

		for _, u := range []usage.Usage{fixed, metrics, polling(), guessing(n), s.settling(n), notifying(n), c.viewing(n), s.database(n)} {
			row, total = append(row, usage.Dollars(u.Dollars(in.Prices))), total.Plus(u)
		}

		dollars := total.Dollars(in.Prices)
		rows = append(rows, append(row, usage.Dollars(dollars), fmt.Sprintf("%.4f", dollars/n),
			fmt.Sprintf("%.1f", max(s.kickOff(n), s.result(n), leastACU))))
	}

	rest := usage.Usage{
		SQLHours:      fixed.SQLHours,
		SQLStorageGB:  fixed.SQLStorageGB,
		CacheGBHours:  fixed.CacheGBHours,
		EndpointHours: fixed.EndpointHours,
	}
	most := c.Sizes[len(c.Sizes)-1]

	return usage.Report{
		Title: "Best Shot.",
		Rows:  rows,
		Notes: fmt.Sprintf(`fixed      in production, also without a season; %s $ of it for the database at %g ACU, the cache and the endpoint
           of the queues in two zones. Other stages pause the database while no tournament is upcoming or active
metrics    %s
polls      %g on each of %g days with a round of %g matches: for the matches each minute in play, every 5 minutes in
           the 6 h after the end, and hourly on the day before; for the standings every 5 minutes in the 6 h after the end
guesses    %g of each member: a statement and a check in DynamoDB
settling   the functions, and the pages of leaderboards that are read after a settlement. %g of the matches are
           corrected, %g void. %.2g s for %s guesses, %.2g s corrected, %.2g s void
notices    %g of points and %g reminders to each member, who has one phone, in messages for %g members
views      %g of each member from the cache, %.1f KB each, %g of them of another page than the first; and %g of the own
           points and rank from the database
database   what is over %g ACU: statements in the %g hours in which matches begin and end, at %.0f a second for
           an ACU, and %.0f µs of a core for a guess that is settled. Aurora's slow way down is not in it
ACU        what %g of the members need who guess in the minute before the kick-off, or, if that is more, all who read
           their points and their rank in the %g minutes after the result, while it is settled. An ACU is a quarter of a core.
           Over the cluster's maximum, raise that before: see docs/runbook.md, "Before a big match"
Settlements, guesses and pages are measured with 10,000 to %s members. What members do is assumed, and the
duration of a request with the connection. The polls are those of the plan.
`, usage.Dollars(rest.Dollars(in.Prices)), leastACU, usage.EmittedNote, polls, matches/together, together, guesses,
			corrected, voided, most.Settled.Seconds, usage.Grouped(most.Members), most.Corrected.Seconds, most.Void.Seconds,
			told, reminded, ofNotices, views, math.Round(most.Cached/100)/10, deep, owns, leastACU, busy, most.perACU(), most.Settled.CPU*1e6,
			lastMinute, minutes, usage.Grouped(most.Members)),
	}, nil
}

// calls is n invocations of functions with 256 MB that take so many seconds.
func calls(n, takes float64) usage.Usage {
	return usage.Usage{LambdaRequests: n, LambdaGBSeconds: n * takes / 4, Traces: usage.Traced(n), InitGBSeconds: usage.Init(n, 0.25)}
}

// rounds is how many times a month a round of a day is polled.
const rounds = matches / together * polls

// polling is the usage of the polls that ingest.PlanPolls plans. A round with a match of 2 h is asked for 120
// times in play, each minute, 72 times in the 6 h after the end, every 5 minutes, and 24 times on the day
// before. In the 6 h after the end the standings are asked for 72 times, and the rounds of the
// tournament 6 times in the first 3 h, and once a day.
func polling() usage.Usage {
	u := calls(rounds, 0.3).Plus(calls(rounds, 0.2))
	u.SQSRequests, u.CacheUnits, u.EndpointGB = 8*rounds, 2*rounds, rounds*30e-6

	return u
}

func guessing(members float64) usage.Usage {
	n := members * guesses
	u := calls(n, seconds)
	u.APIRequests, u.WriteUnits = n, n*check

	return u
}

// settling is the usage of the functions that settle, each as long as it is measured in proportion to the guesses,
// and of the cache. After a settlement a page is written when somebody reads it.
func (s size) settling(members float64) (u usage.Usage) {
	each := guessed(members)
	messages := math.Ceil(each / (ofMessage * settlement.RangeSize))

	for _, k := range s.settlements() {
		n := matches * k.share
		u = u.Plus(calls(n*messages, each/s.Members*k.Seconds/messages))
		u.SQSRequests += 4 * n * messages
		u.CacheUnits += n * pages(members) * math.Ceil(s.Cached/usage.Kilobyte)
	}

	return u
}

// notifying is the usage of the functions that send notices. The database that finds the members is in database.
func notifying(members float64) usage.Usage {
	n := members * (told + reminded)
	u := calls(n/ofNotices, sending)
	u.SQSRequests, u.ReadUnits = 4*n/ofNotices, n*ofPhones

	return u
}

// guessed is how many members have guessed a match.
func guessed(members float64) float64 { return members * guesses / matches }

// pages is how many pages of a leaderboard are read between a settlement and the next.
func pages(members float64) float64 {
	return 1 + math.Min(members/view.PageSize, members*views*deep/matches)
}

// kind is a kind of settlements, with its share of the matches.
type kind struct {
	settling
	share float64
}

func (s size) settlements() []kind {
	return []kind{{s.Settled, 1}, {s.Corrected, corrected}, {s.Void, voided}}
}

// perACU is how many statements a second an ACU runs: as many guesses as it stores.
func (s size) perACU() float64 { return s.Guesses / (cores * perCore) }

// database is what the database needs beside its least capacity, which is billed anyway: for the statements in the
// busy hours, and for a core while a match is settled.
func (s size) database(members float64) (u usage.Usage) {
	each, runs := guessed(members), 0.0

	for _, k := range s.settlements() {
		n := matches * k.share
		runs += n
		u.SQLHours += n * max(each*k.CPU*perCore-each/s.Members*k.Seconds*leastACU, 0) / 3600
	}

	// 13 µs of a core for a member who is told, 28 for one who is looked at for a reminder: `make bench`.
	u.SQLHours += members * (told*13e-6 + searched*28e-6) * perCore / 3600

	statements := rounds*40 + members*(guesses+owns) + runs*pages(members)*fill
	rate := statements / (busy * 3600)

	u.SQLHours += max(rate/s.perACU()-leastACU, 0) * busy
	u.SQLPages = (statements + runs*each*4) * rowPages

	return u
}

// kickOff is the ACUs that the guesses in the minute before the kick-off of a final need.
func (s size) kickOff(members float64) float64 { return members * lastMinute / 60 / s.perACU() }

// result is the ACUs that are needed after a final: it is settled in minutes, while each member asks for the
// own points and rank.
func (s size) result(members float64) float64 {
	return (members*asked/s.perACU() + members*s.Settled.CPU*perCore) / (minutes * 60)
}

// viewing is the usage of the pages that members look at, and of the own points and ranks. Beside what is measured
// of a page from the cache Lambda takes 10 ms.
func (c counters) viewing(members float64) usage.Usage {
	n, own := members*views, members*owns
	u := calls(n, 0.01+c.Seconds[cachedPage]).Plus(calls(own, seconds))
	u.APIRequests, u.CacheUnits, u.EgressGB = n+own, n*math.Ceil(c.of(members).Cached/usage.Kilobyte), n*c.Page/usage.Gigabyte

	return u
}
