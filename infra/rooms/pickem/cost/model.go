package cost

import (
	"math"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/spec"
)

// Functions whose calls are counted, beside the screens.
const (
	saving  = "put-predictions"
	locking = "lock-events"
)

// screens are the five screens of the room. What the first two show does not grow
// with the members.
var screens = []string{"list-events", "get-me", "get-event", "get-results", "get-standings"}

// What is assumed. The notes of the report list it.
const (
	viewsOfWeek    = 4.0  // of each screen, by a member
	savesOfEvent   = 2.0  // by a member; there is one event a week
	noticesOfEvent = 0.75 // to a member
	noticeReads    = 3.0  // read units: the record of the notice, the list of phones, and one phone
	noticeWrites   = 4.0  // write units: the record and a check, in a transaction
	noticesAtOnce  = 100  // members of one message
	scoredPerSec   = 360  // members, at the pace of the writes: 276 s for 100,000, by `make bench ROOM=pickem MEMBERS=100000`
	messageTakes   = 40.0 // seconds of the pace, until the message of a scoring sends its successor
	megabyteTakes  = 0.1  // seconds to read 1 MB, beside those of a request
)

// model calculates what the room uses.
type model struct {
	counters
	room spec.Room
}

func (m model) memory(function string) float64 { return usage.Memory(m.room, function) }

// month is what the room uses in a month with an event a week that all members play.
type month struct {
	fixed, metrics, lists, cards, results, standings, picks, scores, notices usage.Usage
}

func (m model) month(members float64) (s month, err error) {
	if s.fixed, err = usage.Fixed(m.room, m.useOf(locking, members).ReadUnits); err != nil {
		return s, err
	}

	s.metrics = usage.Emitted(m.room, usage.HoursOfMonth)
	views := members * viewsOfWeek * usage.WeeksOfMonth
	s.lists = m.requests(views, m.useOf(screens[0], members)).Plus(m.requests(views, m.useOf(screens[1], members)))
	s.cards, s.results, s.standings = m.requests(views, m.useOf(screens[2], members)), m.requests(views, m.useOf(screens[3], members)),
		m.requests(views, m.useOf(screens[4], members))
	s.picks = m.requests(members*savesOfEvent*usage.WeeksOfMonth, m.useOf(saving, members))

	most := m.Scores[len(m.Scores)-1]
	scored := members * usage.WeeksOfMonth
	messages := math.Ceil(members/scoredPerSec/messageTakes) * usage.WeeksOfMonth
	memory := m.memory(score.ScoreEventFunction().Name)
	s.scores = usage.Usage{
		LambdaRequests:  messages,
		LambdaGBSeconds: scored / scoredPerSec * memory,
		Traces:          usage.Traced(messages),
		InitGBSeconds:   usage.Init(messages, memory),
		ReadUnits:       scored * most.ReadUnits / most.Members,
		WriteUnits:      scored * most.WriteUnits / most.Members,
		SQSRequests:     3 * messages,
		LogGB:           messages * usage.JobLog / usage.Gigabyte,
	}
	sent := scored * noticesOfEvent
	s.notices = usage.Usage{
		LambdaRequests:  sent / noticesAtOnce,
		LambdaGBSeconds: sent / usage.NotifiedPerSec * m.memory(notice.SendNoticesFunction().Name),
		Traces:          usage.Traced(sent / noticesAtOnce),
		InitGBSeconds:   usage.Init(sent/noticesAtOnce, m.memory(notice.SendNoticesFunction().Name)),
		ReadUnits:       sent * noticeReads,
		WriteUnits:      sent * noticeWrites,
		SQSRequests:     3 * sent / noticesAtOnce,
		LogGB:           sent / noticesAtOnce * usage.JobLog / usage.Gigabyte,
		EgressGB:        sent * usage.PushBytes / usage.Gigabyte,
	}

	return s, nil
}

// requests is what n calls of a use need.
func (m model) requests(n float64, u use) usage.Usage {
	seconds := usage.RequestSeconds + u.ReadUnits*2*4*usage.Kilobyte/1e6*megabyteTakes // an eventually consistent unit is two pages of 4 KB

	return usage.Usage{
		APIRequests:     n,
		LambdaRequests:  n,
		Traces:          usage.Traced(n),
		LambdaGBSeconds: n * seconds * m.memory("pickem/"+u.What),
		InitGBSeconds:   usage.Init(n, m.memory("pickem/"+u.What)),
		ReadUnits:       n * u.ReadUnits,
		WriteUnits:      n * u.WriteUnits,
		LogGB:           n * usage.RequestLog / usage.Gigabyte,
		EgressGB:        n * u.Answer / usage.Gigabyte,
	}
}

func (s month) parts() []usage.Usage {
	return []usage.Usage{s.fixed, s.metrics, s.lists, s.cards, s.results, s.standings, s.picks, s.scores, s.notices}
}
