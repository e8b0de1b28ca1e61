package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/words"
)

// polledLedger is a ledger under test, entered as the ingester does.
type polledLedger struct {
	l       ledger
	payload string // of the last poll
	polls   int    // since another payload was recorded
	sent    []string
}

// poll observes events.
func (w *polledLedger) poll(final bool, events ...event.Event) {
	payload := fmt.Sprint(events)
	unchanged := w.l.Begun && payload == w.payload && !final

	w.polls++
	if unchanged && !w.l.confirmed(w.polls) {
		return
	}

	next, due := w.l.record(observation{events: events, polls: w.polls, unchanged: unchanged, final: final, settled: final})
	for _, e := range due {
		w.sent = append(w.sent, e.Key)
	}

	w.l, w.payload = next, payload
	if !unchanged {
		w.polls = 0
	}
}

func wicketOf(key, alias string) event.Event {
	return event.Event{Kind: event.Wicket, Key: key, Alias: alias}
}

func TestEventIsSentOnceWhenConfirmed(t *testing.T) {
	t.Parallel()

	out, start := wicketOf("S1:out:5", "S1:ball:9"), event.Event{Kind: event.Start, Key: "start"}
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
		"nothing":                              {[][]event.Event{{}, {}, {}}, false, nil},
		"a start is sent at once":              {[][]event.Event{{start}}, false, []string{"start"}},
		"a start is sent once":                 {[][]event.Event{{start}, {start}, {start}, {start}}, false, []string{"start"}},
		"a wicket waits":                       {[][]event.Event{{out}, {out}}, false, nil},
		"a wicket is sent with the third poll": {[][]event.Event{{out}, {out}, {out}}, false, []string{out.Key}},
		"a wicket is sent once": {
			[][]event.Event{{out}, {out}, {out}, {out}, {out, start}, {out}},
			false,
			[]string{out.Key, "start"},
		},
		"other events do not delay it":          {[][]event.Event{{out}, {start, out}, {start, out, next}}, false, []string{"start", out.Key}},
		"one that is taken back is not sent":    {[][]event.Event{{out}, {out}, {}, {}, {}}, false, nil},
		"one that comes back starts again":      {[][]event.Event{{out}, {out}, {}, {out}, {out}}, false, nil},
		"one that comes back and stays is sent": {[][]event.Event{{out}, {}, {out}, {out}, {out}}, false, []string{out.Key}},
		"one taken back late is not sent again": {[][]event.Event{{out}, {out}, {out}, {}, {out}, {out}, {out}, {out}}, false, []string{out.Key}},
		"another batter is a correction": {
			[][]event.Event{{out}, {out}, {out}, {other}, {other}, {other}, {other}},
			false,
			[]string{out.Key},
		},
		"another batter before it is sent": {[][]event.Event{{out}, {out}, {other}}, false, []string{out.Key}},
		"another ball is a correction":     {[][]event.Event{{out}, {out}, {out}, {reentry}, {reentry}, {reentry}}, false, []string{out.Key}},
		"another ball after two polls without": {
			[][]event.Event{{out}, {out}, {out}, {}, {}, {reentry}, {reentry}, {reentry}},
			false,
			[]string{out.Key},
		},
		"the first batter is out later": {
			[][]event.Event{{out}, {out}, {out}, {other}, {other, late}, {other, late}, {other, late}},
			false,
			[]string{out.Key, out.Key + "+"},
		},
		"a ball without a batter gets one": {[][]event.Event{{bare}, {bare}, {bare}, {out}, {out}, {out}}, false, []string{bare.Key}},
		"withdrawn, and out by another ball": {
			[][]event.Event{{out}, {out}, {out}, {}, {}, {}, {reentry}, {reentry}, {reentry}},
			false,
			[]string{out.Key, out.Key + "+"},
		},
		"withdrawn while others come": {
			[][]event.Event{{out}, {out}, {out}, {}, {start}, {start, next}, {start, next, reentry}, {start, next, reentry}, {start, next, reentry}},
			false,
			[]string{out.Key, "start", next.Key, out.Key + "+"},
		},
		"withdrawn, and given after all": {
			[][]event.Event{{out}, {out}, {out}, {}, {}, {}, {}, {out}, {out}, {out}},
			false,
			[]string{out.Key},
		},
		"a stoppage that stands": {
			[][]event.Event{{stop}, {stop}, {stop}, {stop, resume}, {stop, resume}, {stop, resume}},
			false,
			[]string{stop.Key, resume.Key},
		},
		"one that passes at once": {
			[][]event.Event{{stop}, {stop}, {stop, resume}, {stop, resume}, {stop, resume}, {stop, resume}},
			false,
			nil,
		},
		"a status that cannot decide": {
			[][]event.Event{{stop}, {stop, resume}, {stop, resume, stop2}, {stop, resume, stop2, resume2}, {stop, resume, stop2, resume2}},
			false,
			nil,
		},
		"two wickets are two events": {
			[][]event.Event{{out}, {out, next}, {out, next}, {out, next}},
			false,
			[]string{out.Key, next.Key},
		},
		"the final poll needs no confirmation": {[][]event.Event{{out}}, true, []string{out.Key}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var w polledLedger
			for i, events := range c.polls {
				w.poll(c.final && i == len(c.polls)-1, events...)
			}

			if !slices.Equal(w.sent, c.want) {
				t.Errorf("sent %q, want %q", w.sent, c.want)
			}
		})
	}
}

// TestPastEventsOfALateMatchAreNotSent first polls a match that is well under way.
func TestPastEventsOfALateMatchAreNotSent(t *testing.T) {
	t.Parallel()

	past, latest := wicketOf("S1:out:1", ""), wicketOf("S1:out:2", "")

	l, due := ledger{}.record(observation{events: []event.Event{past}, polls: 1, late: true})
	if len(due) > 0 {
		t.Errorf("the first poll sends %v, want nothing", due)
	}

	l, due = l.record(observation{
		events: []event.Event{past, latest, {Kind: event.Result, Key: "result"}},
		polls:  1,
		late:   true,
		final:  false,
	})
	if len(due) > 0 {
		t.Errorf("the second poll sends %v, want nothing", due)
	}

	_, due = l.record(observation{events: []event.Event{past, latest}, polls: 2, late: true})
	if len(due) != 1 || due[0].Key != latest.Key {
		t.Errorf("the third poll sends %v, want %s", due, latest.Key)
	}
}

// TestLateMatchStartsActivities: the start of a match that is first polled late is no news, and
// starts the activities of those who follow it.
func TestLateMatchStartsActivities(t *testing.T) {
	t.Parallel()

	start := event.Event{Kind: event.Start, Key: event.FirstStart, Match: "Home v Away", Score: words.Verbatim("Home 80/2 (10)")}
	for name, c := range map[string]struct {
		playing bool
		want    []string
	}{
		"in play":    {true, []string{"start, quiet: true"}},
		"in a break": {false, nil},
	} {
		_, due := ledger{}.record(observation{
			events: []event.Event{{Kind: event.Toss, Key: "toss:1:bat"}, start, wicketOf("S1:out:1", "")}, polls: 1, late: true, playing: c.playing,
		})

		var got []string
		for _, e := range due {
			got = append(got, fmt.Sprint(e.Key, ", quiet: ", e.Quiet))
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: sent (-want +got):\n%s", name, diff)
		}
	}
}

// TestActivitiesAreRenewedBeforeTheyEnd: once a day, while play goes on, before the start is 7 h 30 min
// old.
func TestActivitiesAreRenewedBeforeTheyEnd(t *testing.T) {
	t.Parallel()

	start := event.Event{Kind: event.Start, Key: event.FirstStart}
	day2 := event.Event{Kind: event.Start, Key: event.FirstStart + ":2"}

	for name, c := range map[string]struct {
		old  bool // the ledger was written before it had the times of starts
		want []string
	}{
		"each day":      {false, []string{"0h start", "7h start:renewed", "24h start:2", "31h start:2:renewed"}},
		"an old ledger": {true, []string{"24h start:2", "31h start:2:renewed"}},
	} {
		var (
			l   ledger
			got []string
		)

		if c.old {
			l = ledger{Begun: true, Events: []sentEvent{{Key: start.Key, Name: start.Key, Sent: true}}}
		}

		for minute := range 36 * 60 {
			hour := minute / 60
			o := observation{events: []event.Event{start}, polls: 1, playing: hour < 10 || hour >= 24, at: 1_000_000 + int64(minute*60)}

			if hour >= 24 {
				o.events = append(o.events, day2)
			}

			var due []event.Event
			if l, due = l.record(o); len(due) > 0 {
				got = append(got, fmt.Sprintf("%dh %s", hour, due[0].Key))
			}
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: sent (-want +got):\n%s", name, diff)
		}
	}
}

// TestCalledOffMatchIsConfirmedForFiveMinutes: no score confirms that a match was called off.
func TestCalledOffMatchIsConfirmedForFiveMinutes(t *testing.T) {
	t.Parallel()

	for key, want := range map[string]int{
		"result:abandoned:": calledOffPolls,
		"result:cancelled:": calledOffPolls,
		"result:noResult:":  calledOffPolls,
		"result:won:11":     confirmPolls,
		"result:drawn:":     confirmPolls,
	} {
		var w polledLedger

		n := 0
		for ; len(w.sent) == 0 && n < 2*calledOffPolls; n++ {
			w.poll(false, event.Event{Kind: event.Result, Key: key})
		}

		if n != want {
			t.Errorf("%s is sent after %d polls, want %d", key, n, want)
		}
	}
}

// TestResultOfALateMatchIsSent first polls a match when it is over.
func TestResultOfALateMatchIsSent(t *testing.T) {
	t.Parallel()

	past, result := wicketOf("S1:out:1", ""), event.Event{Kind: event.Result, Key: "result:won:11"}

	_, due := ledger{}.record(observation{events: []event.Event{past, result}, polls: 1, late: true, final: true})
	if len(due) != 1 || due[0].Key != result.Key {
		t.Errorf("sends %v, want the result alone", due)
	}
}

// TestTieIsSentAsTheFinalResult: a super over may follow a finish without a winner.
func TestTieIsSentAsTheFinalResult(t *testing.T) {
	t.Parallel()

	level := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20")
	}
	super := func() *scoretest.Scene { return level().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 2, "0.5") }

	tie, draw := level().Finish(0, "Match tied"), scoretest.NewScene("Test/5day").AddTotal(1, 141, 9, "20").Finish(0, "Match drawn")
	for name, c := range map[string]struct {
		scenes []*scoretest.Scene // three polls of each
		final  bool               // and one of the last
		want   []string
	}{
		"a tie that may not last": {[]*scoretest.Scene{level(), tie}, false, nil},
		"a tie":                   {[]*scoretest.Scene{level(), tie}, true, []string{"result:tied:"}},
		"a tie before a super over": {[]*scoretest.Scene{tie, super(), super().Finish(2, "Match tied (Away won the Super Over)")}, true,
			[]string{"result:tied:2"}},
		"a draw": {[]*scoretest.Scene{draw}, false, []string{"result:drawn:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var (
				w      polledLedger
				state  score.State
				events []event.Event
			)

			for _, scene := range c.scenes {
				for range confirmPolls {
					state, _ = scorer.Read(scene.Fixture, state)
					events = event.List(scene.Fixture, state)
					w.poll(false, events...)
				}
			}

			if c.final {
				w.poll(true, events...)
			}

			got := slices.DeleteFunc(w.sent, func(key string) bool { return !strings.HasPrefix(key, "result") })
			if diff := cmp.Diff(c.want, slices.Clip(got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("results sent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOnlyConfirmedEventsAreSent polls events at random. An event is sent, and sent
// once, exactly if confirmPolls consecutive polls contained it.
func TestOnlyConfirmedEventsAreSent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const kinds = 4

		polls := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, kinds-1), 0, kinds, rapid.ID), 1, 30).Draw(t, "polls")

		var w polledLedger

		consecutive, longest := make([]int, kinds), make([]int, kinds)

		for _, ids := range polls {
			slices.Sort(ids)

			var events []event.Event

			for id := range kinds {
				if !slices.Contains(ids, id) {
					consecutive[id] = 0
					continue
				}

				consecutive[id]++
				longest[id] = max(longest[id], consecutive[id])
				events = append(events, wicketOf(fmt.Sprint("S1:out:", id), ""))
			}

			w.poll(false, events...)
		}

		for id := range kinds {
			key := fmt.Sprint("S1:out:", id)
			n := 0

			for _, sent := range w.sent {
				if sent == key {
					n++
				}
			}

			if want := longest[id] >= confirmPolls; n > 1 || (n == 1) != want {
				t.Fatalf("event %d was in %d consecutive polls and was sent %d times", id, longest[id], n)
			}
		}
	})
}

// TestResultOfAReinstatedMatchIsNoCorrection: a match that was cancelled is played after all. Another result than
// one that was sent is a correction.
func TestResultOfAReinstatedMatchIsNoCorrection(t *testing.T) {
	t.Parallel()

	won := event.ResultKey(score.Won, "11")
	for name, c := range map[string]struct {
		sent []string // keys
		want bool
	}{
		"cancelled":                 {[]string{event.ResultKey(score.Cancelled, "")}, true},
		"cancelled, and played":     {[]string{event.ResultKey(score.Cancelled, ""), event.FirstStart}, false},
		"no result":                 {[]string{event.FirstStart, event.ResultKey(score.NoResult, "")}, true},
		"the same":                  {[]string{event.FirstStart, won}, false},
		"no result, and resumed":    {[]string{event.FirstStart, event.ResultKey(score.NoResult, ""), event.ResumptionKey(1)}, false},
		"none":                      {[]string{event.FirstStart}, false},
		"another winner, cancelled": {[]string{event.FirstStart, event.ResultKey(score.Cancelled, ""), event.ResultKey(score.Won, "12")}, true},
	} {
		var l ledger
		for _, key := range c.sent {
			l.Events = append(l.Events, sentEvent{Key: key, Name: key, Sent: true})
		}

		if got := l.corrects(won); got != c.want {
			t.Errorf("%s: it is a correction: %v, want %v", name, got, c.want)
		}
	}
}
