package cost

import (
	"matchday/infra/tools/cost/usage"
	"matchday/pkg/spec"
)

// scenario is a month: so many matches live at once for so many hours of it, and so
// many people, each with an activity of one of the matches, evenly spread.
type scenario struct {
	matches int
	hours   float64
	people  float64
}

// What is assumed where nothing is measured. The notes of the report list it.
const (
	ticksOfHour   = 3600 / 2.5
	changesOfHour = 75.0 // of a match: a T20 has 250 balls in 3 h 20
	alertsOfHour  = 4.5  // of a match: 15 events in 3 h 20

	// Every second tick is due half a second after the Wait of the state machine ends,
	// and waits for it: 0.25 s on average. The rest is the provider's answer and the
	// writes.
	tickSeconds = 0.25 + 0.20
	waitSeconds = 120 // an execution waits so long for its last slot

	pushesOfSecond   = 2000 // of one push-activities, with its four connections
	messageSeconds   = 0.1  // of a message, beside the pushes
	broadcastSeconds = 0.2  // of a change that is broadcast
	perspectives     = 3    // channels of a match
	alertReads       = 1.05 // read units a follower: preferences, phone, and a 20th of a page

	seasonMatches = 200      // of a large league
	hoursOfMatch  = 10.0 / 3 // of a T20: 15 alerts

	opens        = 20.0 // of the app, by one person in a month
	requestsOpen = 4
	requestReads = 1.5 // read units: a page of a match, eventually consistent

	followsOfMonth = 8.0 // matches that one person follows, each with an activity

	// Bytes. Logs include what Lambda adds.
	tickLog      = 1.5 * usage.Kilobyte
	pushLog      = 0.9 * usage.Kilobyte
	executionLog = 91 * usage.Kilobyte // of an execution with 24 ticks, at level ALL
	answerBytes  = 3 * usage.Kilobyte
)

// actions are the requests of one person in a month that write.
var actions = []struct {
	what  string // the function
	times float64
}{{"register-device", opens}, {"follow-match", followsOfMonth}, {"start-activity", followsOfMonth}, {"unfollow-match", followsOfMonth}}

// model calculates what the room uses.
type model struct {
	counters
	room spec.Room
}

func (m model) memory(function string) float64 { return usage.Memory(m.room, function) }

// loop is what the ticks and the state machine use, with what they write, and the custom metrics.
func (m model) loop(s scenario) usage.Usage {
	if s.matches == 0 {
		return usage.Usage{}
	}

	ticks := s.hours * ticksOfHour
	u := usage.Usage{
		LambdaRequests:   ticks,
		LambdaGBSeconds:  ticks * tickSeconds * m.memory("cricket/tick"),
		InitGBSeconds:    usage.Init(ticks, m.memory("cricket/tick")),
		ExpressGBSeconds: s.hours * 60 * waitSeconds * usage.ExpressGB,
		LogGB:            (ticks*tickLog + s.hours*60*executionLog) / usage.Gigabyte,
	}

	return u.Plus(m.store(s)).Plus(usage.Emitted(m.room, s.hours))
}

// store is what the loop uses of DynamoDB and SQS: an unchanged tick in every slot,
// and what each change adds.
func (m model) store(s scenario) usage.Usage {
	if s.matches == 0 {
		return usage.Usage{}
	}

	idle, _ := m.tick(s.matches, false)
	busy, _ := m.tick(s.matches, true)
	ticks, n := s.hours*ticksOfHour, float64(s.matches)
	changes := n * s.hours * changesOfHour

	return usage.Usage{
		WriteUnits: ticks*idle.WriteUnits + changes*(busy.WriteUnits-idle.WriteUnits)/n,
		ReadUnits:  ticks*idle.ReadUnits + changes*(busy.ReadUnits-idle.ReadUnits)/n,
		// Each is sent, received and deleted.
		SQSRequests: 3 * changes * (busy.SQS - idle.SQS) / n,
	}
}

// tokens is what the changes use if every activity gets a push of its own.
func (m model) tokens(s scenario) usage.Usage {
	if s.matches == 0 {
		return usage.Usage{}
	}

	changes, each := float64(s.matches)*s.hours*changesOfHour, s.people/float64(s.matches)
	messages, per := m.pushed(each)

	return usage.Usage{
		LambdaRequests:  changes * messages,
		LambdaGBSeconds: changes * (messages*messageSeconds + each/pushesOfSecond) * m.memory("cricket/push-activities"),
		InitGBSeconds:   usage.Init(changes*messages, m.memory("cricket/push-activities")),
		Traces:          usage.Traced(changes * messages),
		ReadUnits:       changes * (per.ReadUnits + usage.QueryUnits(each*m.Items.Subscription)),
		SQSRequests:     changes * 3 * per.SQS, // beside those of the loop
		LogGB:           changes * messages * pushLog / usage.Gigabyte,
		EgressGB:        changes * each * usage.PushBytes / usage.Gigabyte,
	}
}

// channels is what the same changes use if all activities listen to channels.
func (m model) channels(s scenario) usage.Usage {
	changes := float64(s.matches) * s.hours * changesOfHour
	least, per := m.pushed(0)

	return usage.Usage{
		LambdaRequests: changes * least, LambdaGBSeconds: changes * broadcastSeconds * m.memory("cricket/push-activities"),
		Traces: usage.Traced(changes * least), InitGBSeconds: usage.Init(changes*least, m.memory("cricket/push-activities")),
		ReadUnits: changes * (per.ReadUnits + 1), LogGB: changes * pushLog / usage.Gigabyte,
		EgressGB: changes * perspectives * usage.PushBytes / usage.Gigabyte,
	}
}

// topicReads are the read units of a change for Android phones: the match, a display of each perspective, and
// sometimes the numbers of phones.
const topicReads = 1 + perspectives + 0.5

// topics is what the same changes use for Android phones, whatever their number. Google charges nothing.
func (m model) topics(s scenario) usage.Usage {
	changes := float64(s.matches) * s.hours * changesOfHour

	return usage.Usage{
		LambdaRequests: changes, LambdaGBSeconds: changes * broadcastSeconds * m.memory("cricket/push-topics"),
		Traces: usage.Traced(changes), InitGBSeconds: usage.Init(changes, m.memory("cricket/push-topics")),
		ReadUnits: changes * topicReads, SQSRequests: 3 * changes, LogGB: changes * pushLog / usage.Gigabyte,
		EgressGB: changes * perspectives * usage.PushBytes / usage.Gigabyte,
	}
}

// alerts is what the alerts of every event to everybody use.
func (m model) alerts(s scenario) usage.Usage {
	sent := s.hours * alertsOfHour * s.people
	if s.matches == 0 {
		sent = 0
	}

	return usage.Usage{
		LambdaRequests: sent / pushesOfSecond, LambdaGBSeconds: sent / usage.NotifiedPerSec * m.memory("cricket/send-alerts"),
		Traces: usage.Traced(sent / pushesOfSecond), InitGBSeconds: usage.Init(sent/pushesOfSecond, m.memory("cricket/send-alerts")),
		ReadUnits: sent * alertReads, SQSRequests: 3 * sent / pushesOfSecond,
		LogGB: sent / pushesOfSecond * pushLog / usage.Gigabyte, EgressGB: sent * usage.PushBytes / usage.Gigabyte,
	}
}

// users is the sign-in of everybody, and the requests of everybody that write.
func (m model) users(s scenario) usage.Usage {
	u := usage.Usage{Users: s.people}
	for _, a := range actions {
		n := s.people * a.times
		each, _ := m.used(a.what)
		u = u.Plus(usage.Usage{
			APIRequests:     n,
			LambdaRequests:  n,
			Traces:          usage.Traced(n),
			LambdaGBSeconds: n * usage.RequestSeconds * m.memory("cricket/"+a.what),
			InitGBSeconds:   usage.Init(n, m.memory("cricket/"+a.what)),
			ReadUnits:       n * each.ReadUnits,
			WriteUnits:      n * each.WriteUnits,
			LogGB:           n * usage.RequestLog / usage.Gigabyte,
		})
	}

	return u
}

// api is what the requests of the apps use.
func (m model) api(s scenario) usage.Usage {
	n := s.people * opens * requestsOpen

	return usage.Usage{
		APIRequests:     n,
		LambdaRequests:  n,
		Traces:          usage.Traced(n),
		LambdaGBSeconds: n * usage.RequestSeconds * m.memory("cricket/get-match"),
		InitGBSeconds:   usage.Init(n, m.memory("cricket/get-match")),
		ReadUnits:       n * requestReads,
		LogGB:           n * usage.RequestLog / usage.Gigabyte,
		EgressGB:        n * answerBytes / usage.Gigabyte,
	}
}

// seed is what the access patterns of the original design, taken literally, use of
// DynamoDB, in place of store and of the reads of tokens: every subscription is read
// in every tick, and every pattern whose rate is of ticks happens in every tick, or
// in that of each match.
func (m model) seed(s scenario) usage.Usage {
	if s.matches == 0 {
		return usage.Usage{}
	}

	ticks := s.hours * ticksOfHour

	u := usage.Usage{ReadUnits: ticks * usage.QueryUnits(s.people*m.Items.Subscription)}
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
			case spec.GetItem, spec.BatchGetItem, spec.Query, spec.Scan:
				u.ReadUnits += n / 2
			default:
				u.WriteUnits += n * copies * max(usage.WriteUnits(size), 1)
			}
		}
	}

	return u
}
