package live

import (
	"slices"
	"strings"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/words"
)

// ledger is the events of a match that were sent to send-alerts, and those that wait for
// confirmation.
type ledger struct {
	Begun   bool        `dynamodbav:"begun"`             // false before the first poll of the match
	Edition int         `dynamodbav:"edition,omitempty"` // event.Edition of the code that wrote it; absent: 1
	Events  []sentEvent `dynamodbav:"events"`
}

// sentEvent is one event in the ledger. Key is the key that the event had when it
// was first seen; Name and Alias are those of its last correction.
type sentEvent struct {
	Key   string `dynamodbav:"k"`
	Name  string `dynamodbav:"n"`
	Alias string `dynamodbav:"a,omitempty"`
	// Polls counts consecutive polls: until the event is sent, those that contain it;
	// afterwards, those that lack it. It includes one poll of the payload that was
	// ingested last. Fixture.Polls counts that payload's further polls.
	Polls int  `dynamodbav:"p,omitempty"`
	Sent  bool `dynamodbav:"t,omitempty"`
	// At is when the start of a match or of a day of it was sent, epoch s. It is 0 for other events.
	At int64 `dynamodbav:"at,omitempty"`
}

const (
	// confirmPolls is how many consecutive polls must contain an event before it is
	// sent. About one ball in seven is first posted wrong.
	confirmPolls = 3
	// maxEarlyBalls is how many balls (six overs) may have been bowled when a match is
	// first polled for its past events to be sent. After that they are no news.
	maxEarlyBalls = 36
	// stumpsPolls is how many consecutive polls, of half a minute, must contain the end of a day's play:
	// no score can confirm that, and a wrong status would end it.
	stumpsPolls = int(30 * time.Second / match.SlotLength)
	// calledOffPolls is how many consecutive polls must contain a match that was called off: no
	// score can confirm that, and play may resume.
	calledOffPolls = int(calledOffAfter / match.SlotLength)
	// renewAfter is the age of the activities that the start of a day has started when they are
	// replaced, if play goes on: iOS ends an activity after 8 h. Play that goes on renewBefore the
	// start is of another day.
	renewAfter  = 7*time.Hour + 15*time.Minute
	renewBefore = 12 * time.Hour
)

// immediate reports whether an event is sent without confirmation: the provider has not
// been seen to correct these. The start of a later day is confirmed, because a wrong
// status at stumps would begin it.
func immediate(e event.Event) bool { return e.Kind == event.Toss || e.Key == event.FirstStart }

// needed returns how many consecutive polls must contain an event with that key before it is sent.
func needed(key string) int {
	for _, o := range [...]score.Outcome{score.NoResult, score.Abandoned, score.Cancelled} {
		if strings.HasPrefix(key, event.ResultKey(o, "")) {
			return calledOffPolls
		}
	}

	if strings.HasPrefix(key, event.StumpsKey) {
		return stumpsPolls
	}

	return confirmPolls
}

// confirmed reports whether an event can be sent now, if so many polls returned the
// payload that was ingested last.
func (l ledger) confirmed(polls int) bool {
	return slices.ContainsFunc(l.Events, func(t sentEvent) bool { return !t.Sent && t.Polls+polls >= needed(t.Name) })
}

// observation is the result of one poll of a match.
type observation struct {
	events    []event.Event
	polls     int   // since the payload before was ingested, this one included
	unchanged bool  // the payload is the one that was ingested last
	final     bool  // no poll follows
	settled   bool  // and the match has been over for settleAfter
	late      bool  // more than maxEarlyBalls have been bowled
	playing   bool  // play is on
	reopened  int   // how often play has resumed after the end was decided
	at        int64 // of the poll, epoch s
}

// record returns the ledger after an observation, and the events to send, each once
// and with the key that it had when it was first seen.
//
//   - An event that disappears before it was sent is dropped.
//   - An event that disappears after it was sent stays in the ledger, so that it is
//     not sent again when it comes back.
//   - A batter whose wicket was sent, then missing for confirmPolls, may be out again
//     by another ball. That is a new event.
//   - Of a match that is first polled late, the last start is sent quietly, because it starts
//     activities, and so is the result. The other events are no news.
//   - What an earlier edition of the list of events did not have, is no news when the first poll of the
//     present edition has it.
//   - The player of the match is part of the result's alert. If it is known later, it is an event.
//   - Another result than the one that was sent is a correction, unless play has resumed since.
//   - The resumption of play after the end is a start.
//   - While play goes on renewAfter the start of the day, a quiet start replaces the activities.
func (l ledger) record(o observation) (next ledger, due []event.Event) {
	next = ledger{Begun: true, Edition: event.Edition}
	past := !l.Begun && o.late
	known := max(l.Edition, 1)
	events := l.credible(o)

	if !l.Begun {
		known = event.Edition
	}

	latest, _ := lastStart(events)

	missing := slices.Clone(l.Events)
	for _, e := range events {
		starts := e.Kind == event.Start && e.Key == latest.Key && o.playing
		old := past && e.Kind != event.Result && !starts || e.Since() > known
		t, seen := sentEvent{Key: l.unusedKey(e), Polls: 1, Sent: old}, 1
		e.Quiet = past && starts
		if i := slices.IndexFunc(missing, func(t sentEvent) bool { return t.matches(e, o.polls) }); i >= 0 {
			t = missing[i]
			missing = slices.Delete(missing, i, i+1)

			seen = t.Polls + o.polls
			if !o.unchanged {
				t.Polls = seen
			}
		}

		t.Name, t.Alias = e.Key, e.Alias
		if e.Kind == event.Award && slices.ContainsFunc(due, func(d event.Event) bool { return strings.HasSuffix(d.Body, e.Title) }) {
			t.Sent = true
		}

		if !t.Sent && (seen >= needed(e.Key) || o.final || immediate(e)) {
			t.Sent = true
			if e.Kind == event.Start {
				t.At = o.at
			}

			if e.Kind == event.Result && l.corrects(t.Key) {
				e.Title = score.Fit("Result corrected: "+e.Title, 64)
				e.Says.Title, e.Says.Body = words.Say("Result corrected"), e.Says.Title
			}

			e.Key = t.Key
			due = append(due, e)
		}

		if t.Sent {
			t.Polls = 0
		}

		next.Events = append(next.Events, t)
	}

	for _, t := range missing {
		if !t.Sent {
			continue
		}

		switch {
		case t.Polls == 0:
			t.Polls = 1
		case !o.unchanged:
			t.Polls = min(t.Polls+o.polls, confirmPolls)
		}

		next.Events = append(next.Events, t)
	}

	for _, find := range []func(ledger, []event.Event, observation) (event.Event, bool){ledger.resumption, ledger.renewal} {
		if e, ok := find(next, events, o); ok {
			next.Events = append(next.Events, sentEvent{Key: e.Key, Name: e.Key, Sent: true, At: o.at})
			due = append(due, e)
		}
	}

	return next, due
}

// sent reports whether an event whose key matches was sent.
func (l ledger) sent(matches func(key string) bool) bool {
	return slices.ContainsFunc(l.Events, func(t sentEvent) bool { return t.Sent && matches(t.Key) })
}

// corrects reports whether the result with that key corrects another, which was sent. The cancellation of a
// match that is played after all is no result.
func (l ledger) corrects(key string) bool {
	played := l.sent(event.IsStart)
	other := func(k string) bool {
		return strings.HasPrefix(k, "result:") && k != key && !(played && strings.HasPrefix(k, event.ResultKey(score.Cancelled, "")))
	}

	return l.sent(other) && !l.sent(event.IsResumption)
}

// lastStart returns the last start in events.
func lastStart(events []event.Event) (e event.Event, ok bool) {
	for _, e := range slices.Backward(events) {
		if e.Kind == event.Start {
			return e, true
		}
	}

	return e, false
}

// resumption returns the start of the play that has resumed after the end was decided, if it was not
// sent.
func (l ledger) resumption(events []event.Event, o observation) (event.Event, bool) {
	e, ok := lastStart(events)
	key := event.ResumptionKey(o.reopened)

	if !ok || !o.playing || o.reopened == 0 || l.sent(func(k string) bool { return k == key }) {
		return e, false
	}

	e.Key, e.Title, e.Body, e.Plain = key, "Play resumes", e.Score.In(words.English), "Play has resumed."
	e.Says.Title, e.Says.Body, e.Says.Plain = words.Say(e.Title), e.Score, words.Say(e.Plain)

	return e, true
}

// renewal returns the event that replaces the activities of the day, if it is due and was not sent.
func (l ledger) renewal(events []event.Event, o observation) (event.Event, bool) {
	var start sentEvent

	for _, t := range l.Events {
		if t.At > start.At {
			start = t
		}
	}

	e, ok := lastStart(events)
	age := time.Duration(o.at-start.At) * time.Second

	if !ok || !o.playing || age < renewAfter || age >= renewBefore || event.IsRenewal(start.Key) {
		return e, false
	}

	e.Key, e.Quiet = event.RenewalKey(start.Key), true

	return e, true
}

// credible returns the events without the stoppages that ended before they were sent,
// without their ends, and without a provisional result unless o is settled.
func (l ledger) credible(o observation) []event.Event {
	last := -1

	for i, e := range o.events {
		if e.Kind == event.Rain {
			last = i
		}
	}

	var out []event.Event

	for i, e := range o.events {
		if e.Provisional && !o.settled {
			continue
		}

		sentStop := func(t sentEvent) bool { return t.Sent && t.Key == e.After }
		if e.Kind == event.Rain && (i != last || e.After != "" && !slices.ContainsFunc(l.Events, sentStop)) {
			continue
		}

		out = append(out, e)
	}

	return out
}

// matches reports whether e is the event t, or a correction of it. polls is as in
// observation.
func (t sentEvent) matches(e event.Event, polls int) bool {
	if t.Sent && t.Polls > 0 && t.Polls+polls > confirmPolls && t.Alias != "" && e.Alias != "" {
		return t.Alias == e.Alias // t was withdrawn: the batter may be out by a later ball
	}

	same := func(name string) bool { return name != "" && (name == e.Key || name == e.Alias) }

	return same(t.Name) || same(t.Alias)
}

// unusedKey returns a key for a new event: its own, with a "+" for each event that
// has the key already. That happens when the wicket of a batter was corrected to
// another batter's, and the first is out later.
func (l ledger) unusedKey(e event.Event) string {
	key := e.Key
	for slices.ContainsFunc(l.Events, func(t sentEvent) bool { return t.Key == key }) {
		key += "+"
	}

	return key
}

// differs reports whether the ledger must be stored again.
func (l ledger) differs(from ledger) bool {
	return l.Begun != from.Begun || l.Edition != from.Edition || !slices.Equal(l.Events, from.Events)
}
