// Package cost is the cost model of 3FC: what a month costs for so many leagues.
package cost

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
)

// kept are the counters of the repository. `make bench` counts them anew.
//
//go:embed counters.json
var kept []byte

// Model is the room's part of the cost model.
var Model = usage.Model{Kept: kept, AtRest: 3.21, Report: report}

// What is assumed of each league and month.
const (
	games = 12.0
	goals = 15.0 // of each game
	seats = 9.0  // players of each game
	steps = 6.0  // starts and ends of thirds
	hours = 1.25 // of each game, with its breaks
	views = 2_000.0

	phones    = 2.0  // that score each game
	polls     = 360. // of each in an hour: see package score
	followers = 5.0  // phones that have each game's page open
	refreshes = 720. // of each in an hour: see package web
)

// The functions whose calls are counted. A goal is sent with a key, under which the answer is stored.
const (
	goal, create, seat, step, finish = "create-goal with a key", "create-game", "put-seat", "finish-third", "finish-game"
	poll                             = "get-game"
	tables, gamePage, seasonPage     = "aggregate-season", "show-game-page", "show-season-page"
)

// counters are what the benchmark counts.
type counters struct{ Uses []use }

// use is one call of a function in a league with so many players.
type use struct {
	What                                        string
	Players, Answer, ReadUnits, WriteUnits, SQS float64 // Answer is in bytes
}

// parse reads counters. It returns an error if they lack a function.
func parse(text []byte) (c counters, err error) {
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}

	for _, what := range []string{goal, create, seat, step, finish, poll, tables, gamePage, seasonPage} {
		if c.of(what).What == "" {
			return c, fmt.Errorf("the counters lack %s: run `make bench`", what)
		}
	}

	return c, nil
}

// of returns the use with the most units, whatever the number of players.
func (c counters) of(what string) (most use) {
	for _, u := range c.Uses {
		if u.What == what && (most.What == "" || u.ReadUnits+u.WriteUnits > most.ReadUnits+most.WriteUnits) {
			most = u
		}
	}

	return most
}

// calls is n calls of a function with so many GB that take so many seconds.
func (c counters) calls(n float64, what string, seconds, memory float64) usage.Usage {
	u := c.of(what)

	return usage.Usage{
		LambdaRequests:  n,
		LambdaGBSeconds: n * seconds * memory,
		Traces:          usage.Traced(n),
		InitGBSeconds:   usage.Init(n, memory),
		ReadUnits:       n * u.ReadUnits,
		WriteUnits:      n * u.WriteUnits,
		SQSRequests:     n * 3 * u.SQS,
		LogGB:           n * usage.RequestLog / usage.Gigabyte,
		EgressGB:        n * u.Answer / usage.Gigabyte,
	}
}

// played is the usage of n games, from the creation to the standings.
func (c counters) played(n float64, room spec.Room) (all usage.Usage) {
	for _, r := range []struct {
		what  string
		times float64
	}{{create, 1}, {seat, seats}, {step, steps}, {goal, goals}, {finish, 1}} {
		u := c.calls(n*r.times, r.what, 0.05, 0.25)
		u.APIRequests = n * r.times
		all = all.Plus(u)
	}

	return all.Plus(c.calls(n, tables, 0.2, usage.Memory(room, "threefc/aggregate-season")))
}

// seen is the usage of n views of pages, half of them of a game and half of a season.
func (c counters) seen(n float64) usage.Usage {
	u := c.calls(n/2, gamePage, usage.RequestSeconds, 0.25).Plus(c.calls(n/2, seasonPage, usage.RequestSeconds, 0.25))
	u.APIRequests = n

	return u
}

// scored is what the phones that score n games ask for.
func (c counters) scored(n float64) usage.Usage { return c.watched(n, poll, phones, polls) }

// followed is what the open pages of n games ask for while these are played.
func (c counters) followed(n float64) usage.Usage {
	return c.watched(n, gamePage, followers, refreshes)
}

// watched is what so many phones ask for while n games are played, each so often in an hour. Most answers are
// 304, without a body: that the game has not changed.
func (c counters) watched(n float64, what string, phones, perHour float64) usage.Usage {
	asked := n * phones * hours * perHour
	u := c.calls(asked, what, usage.RequestSeconds, 0.25)
	u.APIRequests = asked
	u.EgressGB = n * phones * (goals + steps) * c.of(what).Answer / usage.Gigabyte

	return u
}

func report(in usage.Input) (usage.Report, error) {
	c, err := parse(in.Counters)
	if err != nil {
		return usage.Report{}, err
	}

	room := threefc.Room().Spec

	fixed, err := usage.Fixed(room, usage.JobReads)
	if err != nil {
		return usage.Report{}, err
	}

	rows := [][]string{{"leagues", "fixed", "metrics", "games", "phones", "live", "views", "TOTAL", "a league"}}

	for _, n := range []float64{10, 1_000, 10_000} {
		row, total := []string{usage.Grouped(n)}, usage.Usage{}
		for _, u := range []usage.Usage{
			fixed, usage.Emitted(room, usage.HoursOfMonth), c.played(n*games, room), c.scored(n * games), c.followed(n * games), c.seen(n * views),
		} {
			row, total = append(row, usage.Dollars(u.Dollars(in.Prices))), total.Plus(u)
		}

		dollars := total.Dollars(in.Prices)
		rows = append(rows, append(row, usage.Dollars(dollars), fmt.Sprintf("%.4f", dollars/n)))
	}

	one := c.played(1, room)

	return usage.Report{
		Title: "3FC.",
		Rows:  rows,
		Notes: fmt.Sprintf(`metrics %s
games   %g of each league, each with %g goals, %g players and the tables of the season: %g read and %g write units of DynamoDB
phones  %g score each game for %g hours, and ask for it each 10 seconds: %g read units
live    %g phones have the page of each game open meanwhile, which refreshes itself each 5 seconds, without a CDN; with one a game asks
        the origin 12 requests a minute, however many follow it
views   %g of the public pages of each league, without a CDN: half of a game, %g read units, and half of a season, %g
left out mails to players
Units of DynamoDB are those that the engine reckons, with 10 and with 1,000 players. What leagues do, and durations, are assumed.
`, usage.EmittedNote, games, goals, seats, one.ReadUnits, one.WriteUnits,
			phones, hours, c.of(poll).ReadUnits, followers, views, c.of(gamePage).ReadUnits, c.of(seasonPage).ReadUnits),
	}, nil
}
