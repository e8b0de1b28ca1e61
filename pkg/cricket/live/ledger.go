package live

import (
	"context"
	"slices"

	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Ledger is a further row of a match in match-processing-state: which events of
// the match were told, and which are waiting to be.
type Ledger struct {
	MatchID  string      `dynamodbav:"matchId"` // {matchId}#told; "" before anything was seen of the match
	Events   []sentEvent `dynamodbav:"events"`
	LastSlot int64       `dynamodbav:"lastSlot"`
	TTL      int64       `dynamodbav:"ttl"`
}

// sentEvent is one event in the ledger. Its key is the first that the event was seen
// under; its names are those of its last correction.
type sentEvent struct {
	Key   string `dynamodbav:"k"`
	Name  string `dynamodbav:"n"`
	Alias string `dynamodbav:"a,omitempty"`
	Polls int    `dynamodbav:"p,omitempty"` // on end that had it, or once it was told lacked it, when the present words were first seen
	Told  bool   `dynamodbav:"t,omitempty"`
}

const (
	// believed is how many polls must have an event before it is told: it, and
	// two more. About one ball in seven is first posted wrong.
	believed = 3
	// oldNews is how many balls may have been bowled when a match is first seen
	// for its events still to be news: six overs.
	oldNews = 36
)

func ledgerKey(matchID string) string { return matchID + "#told" }

func readLedger(ctx context.Context, db dynamo.DB, matchID string) (Ledger, error) {
	l, _, err := dynamo.Get[Ledger](ctx, db, tables.GetProcessed, ledgerKey(matchID))
	return l, err
}

// sure reports whether an event is told at first sight: the provider does not
// err about it.
func sure(k event.Kind) bool { return k == event.Toss || k == event.Start }

// confirmed reports whether an event has been seen often enough to be told, if so
// many polls agreed on the words that the ledger was last entered with.
func (l Ledger) confirmed(agreed int) bool {
	return slices.ContainsFunc(l.Events, func(t sentEvent) bool { return !t.Told && t.Polls+agreed >= believed })
}

// observation is what one poll says has happened in a match.
type observation struct {
	matchID string
	events  []event.Event
	agreed  int  // polls since the ledger was entered with the words before, this one included
	same    bool // as those words
	final   bool // there will be no other poll
	old     bool // the match is well under way
	slot    int64
	ttl     int64
}

// record returns the ledger after a sighting, and the events to tell: each once,
// under the key it was first seen under, whatever it was corrected to since. An
// event that is taken back before it was told is forgotten. One that was told is
// not told again when it comes back, unless it was gone for as long as it takes to
// believe that, and comes with another ball.
func (l Ledger) record(s observation) (next Ledger, due []event.Event) {
	next = Ledger{MatchID: ledgerKey(s.matchID), LastSlot: s.slot, TTL: s.ttl}
	past := l.MatchID == "" && s.old // what happened before we looked is known to everyone
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

// credible leaves out stoppages that passed before they were believed, and with them
// their ends.
func (l Ledger) credible(events []event.Event) []event.Event {
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

// is reports whether e, after so many polls that agreed, is the event, corrected
// perhaps.
func (t sentEvent) is(e event.Event, agreed int) bool {
	ball := t.Alias != "" && t.Alias == e.Alias
	if t.Told && t.Polls > 0 && t.Polls+agreed > believed && t.Alias != "" && e.Alias != "" {
		return ball // it was withdrawn: the batter may be out later
	}
	same := func(name string) bool { return name != "" && (name == e.Key || name == e.Alias) }
	return ball || same(t.Name) || same(t.Alias)
}

// unused is a key for a new event: its own, unless a batter's wicket was told
// that turned out to be another's, and now the batter is out indeed.
func (l Ledger) unused(e event.Event) string {
	key := e.Key
	for slices.ContainsFunc(l.Events, func(t sentEvent) bool { return t.Key == key }) {
		key += "+"
	}
	return key
}

// differs reports whether the ledger must be stored again.
func (l Ledger) differs(from Ledger) bool {
	return l.MatchID != from.MatchID || !slices.Equal(l.Events, from.Events)
}
