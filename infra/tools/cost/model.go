package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"matchday/infra/sim/scheduler"
	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// scenario is a month: so many matches live at once for so many hours of it, and
// so many people with an activity of one of them each, evenly spread.
type scenario struct {
	matches     int
	hours       float64
	subscribers float64
}

// What a month has, and what is assumed where nothing is measured. They are
// listed below the table.
const (
	hoursOfMonth  = 730.0
	minutes       = 60 * hoursOfMonth
	ticksOfHour   = 3600 / 2.5
	changesOfHour = 75.0 // of a match: a T20 has 250 balls in 3 h 20
	alertsOfHour  = 4.5  // of a match: 15 events in 3 h 20

	// Of a tick every second one is due half a second after the Wait's, and waits;
	// the rest is the provider's answer and the writes.
	tickSeconds = 0.25 + 0.20
	planSeconds = 0.10 // of a job of every minute, too
	planReads   = 8    // read units: live-index, the leagues, and ten of them
	planSlots   = 120  // seconds for which an execution waits for its last slot
	idleSeconds = 0.2  // of an execution that finds nothing live
	executionGB = 1.0 / 16

	pushesOfSecond  = 2000 // of one push-activities, at its four connections
	messageSeconds  = 0.1  // beside the pushes
	castSeconds     = 0.2  // of a change by channels
	perspectives    = 3    // channels of a match
	alertedOfSecond = 1000 // followers, with their reads
	alertReads      = 2.05 // read units a follower: preferences, phone, and a 20th of a page

	opens         = 20.0 // of the app, by a subscriber in a month
	requestsOpen  = 4
	requestReads  = 3.0 // read units
	requestSecond = 0.02

	pollsOfMinute = 15 // of an idle queue by Lambda: five pollers, 20 s each

	kilobyte, gigabyte = 1 << 10, 1 << 30
	tickLog            = 1.5 * kilobyte // with what Lambda adds, as the others
	jobLog             = 0.6 * kilobyte
	pushLog            = 0.9 * kilobyte
	requestLog         = 1.1 * kilobyte // with the API's line
	executionLog       = 91 * kilobyte  // of one with 24 ticks, at level ALL
	pushBytes          = 0.9 * kilobyte // on the wire
	answerBytes        = 3 * kilobyte
)

// model is the fleet as it is billed.
type model struct {
	counters
	room spec.Room
}

func (m model) memory(function string) float64 {
	i := slices.IndexFunc(m.room.Functions, func(f spec.Function) bool { return f.Name == function })
	return float64(m.room.Functions[i].Memory) / 1024
}

// fixed is what a room costs in a month in which nothing happens, when a scheduled
// job reads so many units.
func (m model) fixed(room spec.Room, jobReads float64) (u usage, err error) {
	secrets := map[string]bool{}
	for _, f := range room.Functions {
		for _, s := range f.Secrets {
			secrets[s] = true
		}
		switch on := f.On.(type) {
		case spec.Schedule:
			n, err := runs(on)
			if err != nil {
				return u, fmt.Errorf("%s: %w", f.Name, err)
			}
			u = u.plus(job(n, float64(f.Memory)/1024, jobReads))
		case spec.Queue:
			u.sqsRequests += pollsOfMinute * minutes
		}
	}
	for _, machine := range room.Machines {
		n, err := runs(machine.Every)
		if err != nil {
			return u, fmt.Errorf("%s: %w", machine.Name, err)
		}
		u = u.plus(job(n, m.memory("cricket/plan-ticks"), jobReads)).plus(usage{expressRequests: n, expressGBSeconds: n * idleSeconds * executionGB, traces: n})
	}
	for _, a := range (stage.Stage{Name: stage.Prod}).Alarms(room) {
		u.alarmMetrics += float64(len(a.Metrics))
		if a.While != nil {
			u.alarmMetrics++
		}
	}
	for _, table := range room.Tables() {
		u.insightRules += rules(table.Key)
		for _, x := range table.Indexes {
			u.insightRules += rules(x.Key)
		}
	}
	u.customMetrics, u.secrets, u.dashboards = float64(len(room.Metrics())), float64(len(secrets)), 1
	return u, nil
}

// rules is how many rules of Contributor Insights look for throttled keys: one for
// each part of the key.
func rules(key spec.Key) float64 {
	if key.Sort == "" {
		return 1
	}
	return 2
}

// job is what n runs of a planner use, with the schedule's.
func job(n, memory, reads float64) usage {
	return usage{schedules: n, lambdaRequests: n, lambdaGBSeconds: n * planSeconds * memory, readUnits: n * reads, logGB: n * jobLog / gigabyte}
}

// runs is how often a schedule fires in a month of 730 hours, by a week of it.
func runs(on spec.Schedule) (float64, error) {
	s, err := scheduler.Parse(string(on), "UTC")
	if err != nil {
		return 0, err
	}
	begin := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	n, days := 0, 7
	for at := s.Next(begin.Add(-time.Second)); at.Before(begin.AddDate(0, 0, days)); at = s.Next(at) {
		n++
	}
	return float64(n) * hoursOfMonth / float64(24*days), nil
}

// loop is what the ticks use, and what they write.
func (m model) loop(s scenario) usage {
	if s.matches == 0 {
		return usage{}
	}
	ticks := s.hours * ticksOfHour
	u := usage{
		lambdaRequests: ticks, lambdaGBSeconds: ticks * tickSeconds * m.memory("cricket/tick"),
		expressGBSeconds: s.hours * 60 * planSlots * executionGB,
		logGB:            (ticks*tickLog + s.hours*60*executionLog) / gigabyte,
	}
	return u.plus(m.store(s))
}

// store is what the loop uses of DynamoDB and SQS: each tick as if nothing had
// changed, and for each change what it adds.
func (m model) store(s scenario) usage {
	if s.matches == 0 {
		return usage{}
	}
	idle, _ := m.tick(s.matches, false)
	busy, _ := m.tick(s.matches, true)
	ticks, n := s.hours*ticksOfHour, float64(s.matches)
	changes := n * s.hours * changesOfHour
	return usage{
		writeUnits: ticks*m.writes(idle, 0) + changes*(m.writes(busy, n)-m.writes(idle, 0))/n,
		readUnits:  ticks*reads(idle) + changes*(reads(busy)-reads(idle))/n,
		// Each is sent, received and deleted.
		sqsRequests: 3 * changes * (busy.SQS - idle.SQS) / n,
	}
}

// writes are the write units of a tick in which so many matches have changed.
// A match's row is copied into an index, and so is its score, which, with its
// last balls, is all that has more than one unit.
func (m model) writes(c calls, changed float64) float64 {
	cached, balls, fixture := units(m.Items.Cached), units(m.Items.Balls), units(m.Items.Fixture)
	claim := 1.0
	return claim + (c.Dynamo["UpdateItem"]-claim)*2*fixture + c.Dynamo["DeleteItem"] + c.Dynamo["PutItem"] + changed*(2*cached-1+balls-1)
}

// reads are the read units of a tick: its scan of the index is eventually
// consistent, and its rows, which are small, are not.
func reads(c calls) float64 { return c.Dynamo["Scan"]/2 + c.Dynamo["GetItem"] }

// units are the write units of an item of so many bytes.
func units(bytes float64) float64 { return math.Ceil(bytes / kilobyte) }

// tokens is what changes use that are pushed to every activity by its token.
func (m model) tokens(s scenario) usage {
	if s.matches == 0 {
		return usage{}
	}
	changes, each := float64(s.matches)*s.hours*changesOfHour, s.subscribers/float64(s.matches)
	messages, per := m.pushed(each)
	return usage{
		lambdaRequests:  changes * messages,
		lambdaGBSeconds: changes * (messages*messageSeconds + each/pushesOfSecond) * m.memory("cricket/push-activities"),
		readUnits:       changes * (per.Dynamo["GetItem"] + eventually(each*m.Items.Subscription)),
		sqsRequests:     changes * 3 * per.SQS, // beside the loop's own
		logGB:           changes * messages * pushLog / gigabyte,
		egressGB:        changes * each * pushBytes / gigabyte,
	}
}

// eventually is the read units of a query of so many bytes.
func eventually(bytes float64) float64 { return bytes / (4 * kilobyte) / 2 }

// channels is what the same changes use when all activities listen to channels.
func (m model) channels(s scenario) usage {
	changes := float64(s.matches) * s.hours * changesOfHour
	least, per := m.pushed(0)
	return usage{
		lambdaRequests: changes * least, lambdaGBSeconds: changes * castSeconds * m.memory("cricket/push-activities"),
		readUnits: changes * (per.Dynamo["GetItem"] + 1), logGB: changes * pushLog / gigabyte,
		egressGB: changes * perspectives * pushBytes / gigabyte,
	}
}

// alerts is what telling every subscriber of each event uses.
func (m model) alerts(s scenario) usage {
	told := s.hours * alertsOfHour * s.subscribers
	if s.matches == 0 {
		told = 0
	}
	return usage{
		lambdaRequests: told / pushesOfSecond, lambdaGBSeconds: told / alertedOfSecond * m.memory("cricket/send-alerts"),
		readUnits: told * alertReads, sqsRequests: 3 * told / pushesOfSecond,
		logGB: told / pushesOfSecond * pushLog / gigabyte, egressGB: told * pushBytes / gigabyte,
	}
}

// users is that each of the subscribers signs in.
func (m model) users(s scenario) usage { return usage{users: s.subscribers} }

// api is what the subscribers' apps use.
func (m model) api(s scenario) usage {
	n := s.subscribers * opens * requestsOpen
	return usage{
		apiRequests: n, lambdaRequests: n, lambdaGBSeconds: n * requestSecond * m.memory("cricket/get-match"),
		readUnits: n * requestReads, logGB: n * requestLog / gigabyte, egressGB: n * answerBytes / gigabyte,
	}
}

// seed is what the seed's access patterns, taken literally, use of DynamoDB in
// place of store and of the reads of tokens: every subscription in every tick,
// and every pattern whose rate is of ticks in every tick, or in that of each match.
func (m model) seed(s scenario) usage {
	if s.matches == 0 {
		return usage{}
	}
	ticks := s.hours * ticksOfHour
	u := usage{readUnits: ticks * eventually(s.subscribers*m.Items.Subscription)}
	for _, a := range m.room.Access() {
		n := ticks * a.Rate.Times()
		switch a.Rate.Driver {
		case spec.MatchTick:
			n *= float64(s.matches)
		case spec.Tick:
		default:
			continue
		}
		size, copies := 0.0, 1.0
		switch a.Table.Name {
		case "cricket-fixtures":
			size, copies = m.Items.Fixture, 2
		case "cricket-fixture-cache":
			size, copies = m.Items.Cached, 2
		}
		for _, op := range a.Ops {
			switch op {
			case spec.GetItem, spec.Query, spec.Scan:
				u.readUnits += n / 2
			default:
				u.writeUnits += n * copies * max(units(size), 1)
			}
		}
	}
	return u
}
