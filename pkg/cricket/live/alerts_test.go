package live_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// alertKeys returns the keys of the alerts sent so far, in order, with repetitions.
func alertKeys(w *crickettest.World) (keys []string) {
	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		keys = append(keys, m.Key)
	}

	return keys
}

// TestWicketIsSentAfterThreePolls polls a wicket from one process or several, with
// other balls before and after it.
func TestWicketIsSentAfterThreePolls(t *testing.T) {
	t.Parallel()

	out := []crickettest.Ball{{ID: 1, Runs: 1}, {ID: 2, Out: true}}

	const wicket = "S1:out:1000"

	type polls [][]crickettest.Ball

	for name, c := range map[string]struct {
		polls polls
		want  []int // the slots in which the wicket is sent
	}{
		"the same payload": {polls{out[:1], out, out, out, out, out}, []int{3}},
		"more balls after it": {
			polls{out[:1], out, append(out, crickettest.Ball{ID: 3}), append(out, crickettest.Ball{ID: 3}, crickettest.Ball{ID: 4}), out},
			[]int{3},
		},
		"taken back in time":    {polls{out[:1], out, out, {{ID: 1, Runs: 1}, {ID: 2, Runs: 4}}, out, out}, nil},
		"taken back too late":   {polls{out[:1], out, out, out, {{ID: 1, Runs: 1}, {ID: 2}}, out, out, out, out}, []int{3}},
		"given back and stands": {polls{out, {{ID: 1, Runs: 1}, {ID: 2, Runs: 4}}, out, out, out, out}, []int{4}},
	} {
		for processes, per := range map[string]int{"one process": 1, "two in turn": 2, "a new one each": 100} {
			t.Run(name+" by "+processes, func(t *testing.T) {
				t.Parallel()
				w := crickettest.New(t)
				f := w.AddFixture("7")
				tickers := make([]*live.Ticker, per)

				var got []int

				for n, balls := range c.polls {
					w.SetPayload(crickettest.Payload(f, "1st Innings", balls...))

					tk := &tickers[n%per]
					if *tk == nil {
						*tk = w.Ticker()
					}

					before := len(alertKeys(w))
					w.TickAt(*tk, n)

					if slices.Contains(alertKeys(w)[before:], wicket) {
						got = append(got, n)
					}
				}

				if !slices.Equal(got, c.want) {
					t.Errorf("the wicket is sent in the slots %v, want %v", got, c.want)
				}

				for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
					if m.Key == wicket && m.Slot != match.SlotOf(crickettest.At(c.want[0])) {
						t.Errorf("the alert has the slot %d, want %d", m.Slot, match.SlotOf(crickettest.At(c.want[0])))
					}
				}

				if all := alertKeys(w); all[0] != "start" || slices.Index(all[1:], "start") >= 0 {
					t.Errorf("the alerts are %q, want the start first and once", all)
				}
			})
		}
	}
}

// TestEachDayOfPlayIsSentOnce: after three polls, so that a wrong status at stumps does not
// begin the next day, and after a night, so that stumps in the midst of play do not.
func TestEachDayOfPlayIsSentOnce(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	f.Type = "Test"
	tk := w.Ticker()

	const night = "a night"

	slot := 0

	for n, c := range []struct{ status, want string }{
		{"1st Innings", "start"},
		{"Stump Day 1", ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"Stump Day 1", ""},
		{night, ""},
		{"1st Innings", ""},
		{"Stump Day 1", ""},
		{"Stump Day 1", ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"1st Innings", "start:2"},
		{"Lunch", ""},
		{"Lunch", ""},
		{"Lunch", ""},
		{"Lunch", ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"Stump Day 2", ""},
		{night, ""},
		{"1st Innings", ""},
		{"1st Innings", ""},
		{"1st Innings", "start:3"},
		{"1st Innings", ""},
	} {
		if c.status == night {
			slot += int(17 * time.Hour / match.SlotLength)
			continue
		}

		before := len(alertKeys(w))
		w.SetPayload(crickettest.Payload(f, c.status, crickettest.Ball{ID: 1, Runs: 1}))
		w.TickAt(tk, slot)
		slot++

		if got := strings.Join(alertKeys(w)[before:], " "); got != c.want {
			t.Errorf("poll %d, %s: the alerts %q are sent, want %q", n, c.status, got, c.want)
		}
	}
}

// TestWaitingForConfirmationCostsOneWrite: a poll that confirms an event without
// sending it costs as much as an unchanged payload.
func TestWaitingForConfirmationCostsOneWrite(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Out: true}))
	w.TickAt(tk, 0)

	want := map[string]int{"UpdateItem": 2, "Scan": 1} // the claim and markUnchanged
	if got := w.CountCalls(func() { w.TickAt(tk, 1) }); !maps.Equal(got, want) {
		t.Errorf("the second poll makes the calls %v, want %v", got, want)
	}

	got := w.CountCalls(func() { w.TickAt(tk, 2) })

	// the claim, markUnchanged, the lease, at first refused, and the mark
	want = map[string]int{"UpdateItem": 5, "Scan": 1, "PutItem": 1, "SendMessage": 1}
	if !maps.Equal(got, want) {
		t.Errorf("the third, which sends, makes the calls %v, want %v", got, want)
	}
}

// TestShortErrorsOfTheFeedSendNothing plays a whole match whose feed errs, but never
// for confirmPolls, and compares the alerts with those of a feed without errors.
func TestShortErrorsOfTheFeedSendNothing(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, rates map[sportmonks.Kind]float64) []string {
		w := crickettest.New(t)
		m := w.Play(8, cricsheet.T20, match.SlotLength)
		w.Feed.Chaos(sportmonks.Chaos{
			Seed:    8,
			Rates:   rates,
			Lasting: map[sportmonks.Kind]time.Duration{sportmonks.WrongBall: 2 * match.SlotLength},
		})
		tk := w.Ticker()

		s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
		for n := range len(m.Frames) + 20 {
			w.TickAt(tk, n)
			testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)
			testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
		}

		return alertKeys(w)
	}
	want := play(t, nil)
	rates := sportmonks.Habits()
	delete(rates, sportmonks.DeletedBall)
	got := play(t, rates)

	slices.Sort(want)
	slices.Sort(got)

	if diff := cmp.Diff(want, got); len(want) < 10 || diff != "" {
		t.Errorf("of %d alerts (-want +got):\n%s", len(want), diff)
	}

	if !slices.Equal(got, slices.Compact(slices.Clone(got))) {
		t.Errorf("an alert was sent twice: %q", got)
	}
}

// TestPastEventsAreSentOnlyEarlyInAMatch: a match that is first polled after more than six
// overs sends none of the wickets that it has.
func TestPastEventsAreSentOnlyEarlyInAMatch(t *testing.T) {
	t.Parallel()

	for balls, want := range map[int]bool{36: true, 37: false} {
		t.Run(fmt.Sprint(balls, " balls"), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			f := w.AddFixture("7")

			bowled := []crickettest.Ball{{ID: 1, Out: true}}
			for len(bowled) < balls {
				bowled = append(bowled, crickettest.Ball{ID: len(bowled) + 1})
			}

			w.SetPayload(crickettest.Payload(f, "1st Innings", bowled...))

			tk := w.Ticker()
			for n := range live.ConfirmPolls + 2 {
				w.TickAt(tk, n)
			}

			if got := alertKeys(w); slices.Contains(got, "S1:out:1000") != want {
				t.Errorf("the alerts are %q, want the wicket: %v", got, want)
			}
		})
	}
}
