package live

import (
	"context"
	"slices"

	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// ledger is a row of match-processing-state: which events of a match were sent,
// and which wait to be confirmed.
type ledger struct {
	MatchID  string      `dynamodbav:"matchId"` // {matchId}#told; "" before the first poll of the match
	Events   []sentEvent `dynamodbav:"events"`
	LastSlot int64       `dynamodbav:"lastSlot"`
	TTL      int64       `dynamodbav:"ttl"`
}

// sentEvent is one event in the ledger. Key is the first key that the event was
// seen under. Name and Alias are those of its last correction.
type sentEvent struct {
	Key   string `dynamodbav:"k"`
	Name  string `dynamodbav:"n"`
	Alias string `dynamodbav:"a,omitempty"`
	Polls int    `dynamodbav:"p,omitempty"` // consecutive polls that contain the event, or, once it was sent, that lack it; as of the first poll of the current payload
	Told  bool   `dynamodbav:"t,omitempty"`
}

const (
	// believed is how many polls must contain an event before it is sent. About one
	// ball in seven is first posted wrong.
	believed = 3
	// oldNews is how many balls may have been bowled when a match is first seen for
	// its past events to be sent: six overs.
	oldNews = 36
)

func ledgerKey(matchID string) string { return matchID + "#told" }

func readLedger(ctx context.Context, db dynamo.DB, matchID string) (ledger, error) {
	l, _, err := dynamo.Get[ledger](ctx, db, tables.GetProcessed, ledgerKey(matchID))
	return l, err
}

// sure reports whether an event is sent when it is first seen: the provider
// does not correct these kinds.
func sure(k event.Kind) bool { return k == event.Toss || k == event.Start }

// confirmed reports whether an event is confirmed now, if agreed polls had the
// same payload since the ledger was stored.
func (l ledger) confirmed(agreed int) bool {
	return slices.ContainsFunc(l.Events, func(t sentEvent) bool { return !t.Told && t.Polls+agreed >= believed })
}

// observation is what one poll says has happened in a match.
type observation struct {
	matchID string
	events  []event.Event
	agreed  int  // polls with the same payload since the ledger was stored, this one included
	same    bool // the payload is the one that the ledger was stored with
	final   bool // there will be no further poll
	old     bool // more than oldNews balls were bowled
	slot    int64
	ttl     int64
}

// record returns the ledger after an observation, and the events to send. Each
// event is sent once, under the key it was first seen under. An event that is
// withdrawn before it was sent is forgotten. An event that was sent, withdrawn
// and seen again is not sent again, unless it was missing from as many polls as
// confirm an event and comes with another ball.
func (l ledger) record(s observation) (next ledger, due []event.Event) {
	next = ledger{MatchID: ledgerKey(s.matchID), LastSlot: s.slot, TTL: s.ttl}
	past := l.MatchID == "" && s.old // users know what happened before the first poll
	left := slices.Clone(l.Events)
	for _, e := range l.credible(s.events) {
		t, seen := sentEvent{Key: l.unused(e), Polls: 1, Told: past && e.Kind != event.Result}, 1
		if i := slices.IndexFunc(left, func(t sentEvent) bool { return t.is(e, s.agreed) }); i >= 0 {
			t = left[i]
			left = slices.Delete(left, i, i+1)
			seen = t.Polls + s.agreed
			if !s.same {
				t.Polls = seen
			}
		}
		t.Name, t.Alias = e.Key, e.Alias
		if !t.Told && (seen >= believed || s.final || sure(e.Kind)) {
			t.Told = true
			e.Key = t.Key
			due = append(due, e)
		}
		if t.Told {
			t.Polls = 0
		}
		next.Events = append(next.Events, t)
	}
	for _, t := range left {
		if !t.Told {
			continue
		}
		switch {
		case t.Polls == 0:
			t.Polls = 1
		case !s.same:
			t.Polls = min(t.Polls+s.agreed, believed)
		}
		next.Events = append(next.Events, t)
	}
	return next, due
}

// credible omits stoppages that ended before they were confirmed, and their
// ends.
func (l ledger) credible(events []event.Event) []event.Event {
	last := -1
	for i, e := range events {
		if e.Kind == event.Rain {
			last = i
		}
	}
	var out []event.Event
	for i, e := range events {
		known := func(t sentEvent) bool { return t.Told && t.Key == e.After }
		if e.Kind == event.Rain && (i != last || e.After != "" && !slices.ContainsFunc(l.Events, known)) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// is reports whether e is this event, perhaps corrected, after so many polls
// with the same payload.
func (t sentEvent) is(e event.Event, agreed int) bool {
	ball := t.Alias != "" && t.Alias == e.Alias
	if t.Told && t.Polls > 0 && t.Polls+agreed > believed && t.Alias != "" && e.Alias != "" {
		return ball // it was withdrawn; the batter may be out later
	}
	same := func(name string) bool { return name != "" && (name == e.Key || name == e.Alias) }
	return ball || same(t.Name) || same(t.Alias)
}

// unused is the key for a new event: its own, with "+" appended if a sent event
// has it already. That happens when a wicket was corrected to another batter,
// and the first batter is out later.
func (l ledger) unused(e event.Event) string {
	key := e.Key
	for slices.ContainsFunc(l.Events, func(t sentEvent) bool { return t.Key == key }) {
		key += "+"
	}
	return key
}

// differs reports whether the ledger must be stored again.
func (l ledger) differs(from ledger) bool {
	return l.MatchID != from.MatchID || !slices.Equal(l.Events, from.Events)
}
