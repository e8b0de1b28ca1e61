package live

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/cricket/score/event"
)

// watching is a ledger under test: what each poll says, and what is told.
type watching struct {
	l     ledger
	words string // of the last poll
	polls int    // that had them since
	told  []string
}

// poll is one poll: events as "wicket key alias".
func (w *watching) poll(final bool, events ...event.Event) {
	words := fmt.Sprint(events)
	same := w.l.MatchID != "" && words == w.words && !final
	w.polls++
	if same && !w.l.confirmed(w.polls) {
		return
	}
	next, due := w.l.record(observation{matchID: "7", events: events, agreed: w.polls, same: same, final: final})
	for _, e := range due {
		w.told = append(w.told, e.Key)
	}
	w.l, w.words = next, words
	if !same {
		w.polls = 0
	}
}

func wicketOf(key, alias string) event.Event {
	return event.Event{Kind: event.Wicket, Key: key, Alias: alias}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	out, ball := wicketOf("S1:out:5", "S1:ball:9"), event.Event{Kind: event.Start, Key: "start"}
	other := wicketOf("S1:out:6", "S1:ball:9")    // the same ball, another batter
	reentry := wicketOf("S1:out:5", "S1:ball:10") // the same batter, another ball
	next := wicketOf("S1:out:7", "S1:ball:20")
	late := wicketOf("S1:out:5", "S1:ball:30") // the batter who was not out before
	bare := wicketOf("S1:ball:9", "")
	stop, stop2 := event.Event{Kind: event.Rain, Key: "rain:1:stop"}, event.Event{Kind: event.Rain, Key: "rain:2:stop"}
	resume := event.Event{Kind: event.Rain, Key: "rain:1:resume", After: stop.Key}
	resume2 := event.Event{Kind: event.Rain, Key: "rain:2:resume", After: stop2.Key}
	for name, c := range map[string]struct {
		polls [][]event.Event
		final bool // the last of them
		want  []string
	}{
		"nothing":                            {[][]event.Event{{}, {}, {}}, false, nil},
		"what is sure is told at once":       {[][]event.Event{{ball}}, false, []string{"start"}},
		"and once":                           {[][]event.Event{{ball}, {ball}, {ball}, {ball}}, false, []string{"start"}},
		"a wicket waits":                     {[][]event.Event{{out}, {out}}, false, nil},
		"for two more polls":                 {[][]event.Event{{out}, {out}, {out}}, false, []string{out.Key}},
		"and is told once":                   {[][]event.Event{{out}, {out}, {out}, {out}, {out, ball}, {out}}, false, []string{out.Key, "start"}},
		"whatever else is said":              {[][]event.Event{{out}, {ball, out}, {ball, out, next}}, false, []string{"start", out.Key}},
		"one that is taken back is not":      {[][]event.Event{{out}, {out}, {}, {}, {}}, false, nil},
		"nor counts when it comes back":      {[][]event.Event{{out}, {out}, {}, {out}, {out}}, false, nil},
		"until it has stood":                 {[][]event.Event{{out}, {}, {out}, {out}, {out}}, false, []string{out.Key}},
		"one taken back late is not retold":  {[][]event.Event{{out}, {out}, {out}, {}, {out}, {out}, {out}, {out}}, false, []string{out.Key}},
		"another batter is a correction":     {[][]event.Event{{out}, {out}, {out}, {other}, {other}, {other}, {other}}, false, []string{out.Key}},
		"also before it is told":             {[][]event.Event{{out}, {out}, {other}}, false, []string{out.Key}},
		"so is another ball":                 {[][]event.Event{{out}, {out}, {out}, {reentry}, {reentry}, {reentry}}, false, []string{out.Key}},
		"and then the first is out, too":     {[][]event.Event{{out}, {out}, {out}, {other}, {other, late}, {other, late}, {other, late}}, false, []string{out.Key, out.Key + "+"}},
		"a ball may get its batter":          {[][]event.Event{{bare}, {bare}, {bare}, {out}, {out}, {out}}, false, []string{bare.Key}},
		"withdrawn, and out by another ball": {[][]event.Event{{out}, {out}, {out}, {}, {}, {}, {reentry}, {reentry}, {reentry}}, false, []string{out.Key, out.Key + "+"}},
		"withdrawn, and given after all":     {[][]event.Event{{out}, {out}, {out}, {}, {}, {}, {}, {out}, {out}, {out}}, false, []string{out.Key}},
		"a stoppage that stands":             {[][]event.Event{{stop}, {stop}, {stop}, {stop, resume}, {stop, resume}, {stop, resume}}, false, []string{stop.Key, resume.Key}},
		"one that passes at once":            {[][]event.Event{{stop}, {stop}, {stop, resume}, {stop, resume}, {stop, resume}, {stop, resume}}, false, nil},
		"a status that cannot decide":        {[][]event.Event{{stop}, {stop, resume}, {stop, resume, stop2}, {stop, resume, stop2, resume2}, {stop, resume, stop2, resume2}}, false, nil},
		"two are two":                        {[][]event.Event{{out}, {out, next}, {out, next}, {out, next}}, false, []string{out.Key, next.Key}},
		"the last poll is believed":          {[][]event.Event{{out}}, true, []string{out.Key}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w watching
			for i, events := range c.polls {
				w.poll(c.final && i == len(c.polls)-1, events...)
			}
			if !slices.Equal(w.told, c.want) {
				t.Errorf("told %q, want %q", w.told, c.want)
			}
		})
	}
}

// What was over before a match was first seen is not told; what follows is.
func TestLedgerOfAnOldMatch(t *testing.T) {
	t.Parallel()
	past, news := wicketOf("S1:out:1", ""), wicketOf("S1:out:2", "")
	l, due := ledger{}.record(observation{matchID: "7", events: []event.Event{past}, agreed: 1, old: true})
	if len(due) > 0 {
		t.Errorf("told at first sight: %v", due)
	}
	l, due = l.record(observation{matchID: "7", events: []event.Event{past, news, {Kind: event.Result, Key: "result"}}, agreed: 1, old: true, final: false})
	if len(due) > 0 {
		t.Errorf("told at second sight: %v", due)
	}
	_, due = l.record(observation{matchID: "7", events: []event.Event{past, news}, agreed: 2, old: true})
	if len(due) != 1 || due[0].Key != news.Key {
		t.Errorf("told %v", due)
	}
}

// However a feed errs: no event is told twice, one that has stood for three polls
// on end is told, and one that never did is not.
func TestLedgerProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const kinds = 4
		polls := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, kinds-1), 0, kinds, rapid.ID), 1, 30).Draw(t, "polls")
		var w watching
		stood, best := make([]int, kinds), make([]int, kinds)
		for _, ids := range polls {
			slices.Sort(ids)
			var events []event.Event
			for id := range kinds {
				if !slices.Contains(ids, id) {
					stood[id] = 0
					continue
				}
				stood[id]++
				best[id] = max(best[id], stood[id])
				events = append(events, wicketOf(fmt.Sprint("S1:out:", id), ""))
			}
			w.poll(false, events...)
		}
		for id := range kinds {
			key := fmt.Sprint("S1:out:", id)
			n := 0
			for _, told := range w.told {
				if told == key {
					n++
				}
			}
			if want := best[id] >= believed; n > 1 || (n == 1) != want {
				t.Fatalf("event %d stood for %d polls and was told %d times", id, best[id], n)
			}
		}
	})
}
