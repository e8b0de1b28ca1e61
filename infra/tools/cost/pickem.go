package main

import (
	"fmt"

	"matchday/infra/tools/cost/price"
	"matchday/pkg/pickem"
)

// The uses of the pick'em room that are counted.
const (
	saving  = "put-predictions"
	locking = "lock-events"
)

// screens are the five of the room, the two first of which show what does not
// grow with its members.
var screens = []string{"list-events", "get-me", "get-event", "get-results", "get-standings"}

// What is assumed of the room. It is listed below the table.
const (
	weeks         = hoursOfMonth / (7 * 24)
	viewsOfWeek   = 4.0  // of each screen, by a member
	savesOfEvent  = 2.0  // by a member, and one event a week
	noticesOf     = 0.75 // of a member, for an event
	noticeReads   = 1.0  // read units: the phones
	scoredOfSec   = 1000 // members, at 32 at once
	megabyteTakes = 0.1  // seconds, beside those of a request, to read
)

// season is a month of the room, by what is done, with an event a week that all of
// its members play.
type season struct {
	fixed, lists, cards, results, standings, picks, scores, notices usage
}

func (m model) season(members float64) (s season, err error) {
	if s.fixed, err = m.fixed(pickem.Room, m.useOf(locking, members).ReadUnits); err != nil {
		return s, err
	}
	views := members * viewsOfWeek * weeks
	s.lists = m.requests(views, m.useOf(screens[0], members)).plus(m.requests(views, m.useOf(screens[1], members)))
	s.cards, s.results, s.standings = m.requests(views, m.useOf(screens[2], members)), m.requests(views, m.useOf(screens[3], members)), m.requests(views, m.useOf(screens[4], members))
	s.picks = m.requests(members*savesOfEvent*weeks, m.useOf(saving, members))

	most := m.Pickem.Scores[len(m.Pickem.Scores)-1]
	scored := members * weeks
	s.scores = usage{
		lambdaRequests: weeks, lambdaGBSeconds: scored / scoredOfSec * m.memory(pickem.ScoreEventFunction.Name),
		readUnits: scored * most.ReadUnits / most.Members, writeUnits: scored * most.WriteUnits / most.Members,
		sqsRequests: 3 * weeks, logGB: weeks * jobLog / gigabyte,
	}
	told := scored * noticesOf
	s.notices = usage{
		lambdaRequests: told / 100, lambdaGBSeconds: told / alertedOfSecond * m.memory(pickem.SendNoticesFunction.Name),
		readUnits: told * noticeReads, writeUnits: told, sqsRequests: 3 * told / 100, logGB: told / 100 * jobLog / gigabyte, egressGB: told * pushBytes / gigabyte,
	}
	return s, nil
}

// requests are so many of a use.
func (m model) requests(n float64, u use) usage {
	seconds := requestSecond + u.ReadUnits*2*4*kilobyte/1e6*megabyteTakes // an index's unit is two pages
	return usage{
		apiRequests: n, lambdaRequests: n, lambdaGBSeconds: n * seconds * m.memory("pickem/"+u.What),
		readUnits: n * u.ReadUnits, writeUnits: n * u.WriteUnits, logGB: n * requestLog / gigabyte, egressGB: n * u.Answer / gigabyte,
	}
}

func (s season) parts() []usage {
	return []usage{s.fixed, s.lists, s.cards, s.results, s.standings, s.picks, s.scores, s.notices}
}

// pickemRows are the table of the room.
func pickemRows(c counters, p price.List) ([][]string, error) {
	rows := [][]string{
		{"members", "fixed", "lists", "cards", "results", "standings", "picks", "scoring", "notices", "TOTAL", "a member"},
	}
	for _, members := range []float64{100, 1_000, 10_000} {
		s, err := model{c, pickem.Room}.season(members)
		if err != nil {
			return nil, err
		}
		row, total := []string{grouped(members)}, usage{}
		for _, u := range s.parts() {
			row, total = append(row, dollars(u.dollars(p))), total.plus(u)
		}
		rows = append(rows, append(row, dollars(total.dollars(p)), fmt.Sprintf("%.4f", total.dollars(p)/members)))
	}
	return rows, nil
}

// pickemNotes are the room's assumptions.
func pickemNotes() string {
	return fmt.Sprintf(`fixed      as above; the job that locks events reads those of 400 days every minute
lists      the list of events, and the own profile: each member looks at each of the five screens %g times a week
cards      an event that is open. It reads the predictions of all members, to show one: the more members, the more a view costs
results    a scored event, and standings a year's: they read all of it, to show a page with ranks
picks      %g saves of a prediction by each member and event, of which there is one a week
scoring    of an event once, each member in one league of ten
notices    %g pushes to each member and event: of what is forgotten, and what has changed
Units of DynamoDB are those that the engine reckons for calls with 100 to 10,000 members; between and beyond they are in proportion.
`, viewsOfWeek, savesOfEvent, noticesOf)
}
