package score_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// small returns a scorer of whose messages each ends after a page of five members, or after the rows
// of a walk. It orders four rows at once.
func small(w *pickemtest.Room, env app.Env) *score.Scorer {
	return testkit.OpenWith(w.World, env, score.OpenScorer).Bound(0, 5, 4)
}

// take takes the messages out of the queue.
func take(w *pickemtest.Room) (all []score.Request) {
	w.T.Helper()
	testkit.Drain(w.World, score.Queue, 0, func(_ context.Context, in score.Request) error {
		all = append(all, in)
		return nil
	})

	return all
}

// work handles messages and their successors until there are no more, or up to the first error. It
// returns how many it has handled, and those that are left.
func work(w *pickemtest.Room, s *score.Scorer, waiting ...score.Request) (handled int, left []score.Request, err error) {
	w.T.Helper()

	for len(waiting) > 0 {
		if err := s.ScoreEvent(w.NewContext(), waiting[0]); err != nil {
			return handled, waiting, err
		}

		if handled++; handled > 300 {
			w.T.Fatalf("%d messages, and %+v", handled, waiting)
		}

		waiting = append(waiting[1:], take(w)...)
	}

	return handled, nil, nil
}

// finish handles messages and their successors until there are no more.
func finish(w *pickemtest.Room, waiting ...score.Request) int {
	w.T.Helper()
	handled, _, err := work(w, small(w, w.Env(score.ScoreEventFunction())), waiting...)
	testkit.Must(w.T, err)

	return handled
}

// shown returns the ranking of an event and that of the year, and what is stored of members.
func shown(w *pickemtest.Room, id string) map[string]any {
	w.T.Helper()

	out := map[string]any{}
	for _, scope := range []string{id, "2026"} {
		var all []ranking.Row

		for next, page := "", 0; page == 0 || next != ""; page++ {
			t, err := ranking.Read(w.NewContext(), w.DB(), scope, "u00001", next, 50)
			testkit.Must(w.T, err)

			all, next = append(all, t.Rows...), t.Next
			out[scope+" count"], out[scope+" mine"] = t.Count, t.Mine
		}

		out[scope] = all
	}

	out["standings"] = standingLines(w)
	out["event"] = testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(id))

	return out
}

// TestScoringContinuesInMessages: messages that each end after a page, and are handled once or twice,
// leave what one message leaves, and no other items.
func TestScoringContinuesInMessages(t *testing.T) {
	t.Parallel()

	const members = 67

	whole := pickemtest.New(t)
	id := addCrowd(whole, members, 2)
	testkit.Must(t, testkit.Open(whole.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(whole.NewContext(),
		score.Request{EventID: id}))
	want := shown(whole, id)

	for _, times := range []int{1, 2} {
		w := pickemtest.New(t)
		addCrowd(w, members, 2)

		waiting, handled := []score.Request{{EventID: id}}, 0
		for len(waiting) > 0 {
			for range times {
				testkit.Must(t, small(w, w.Env(score.ScoreEventFunction())).ScoreEvent(w.NewContext(), waiting[0]))
			}

			handled++
			waiting = append(waiting[1:], take(w)...)
		}

		if handled < members/5+4 {
			t.Errorf("%d messages, want at least one for a page, and four", handled)
		}

		if diff := cmp.Diff(want, shown(w, id)); diff != "" {
			t.Errorf("after messages that are handled %d times (-one message +many):\n%s", times, diff)
		}

		for _, r := range testkit.Rows[struct {
			PK, SK string
			Open   bool
			Step   int
		}](w.World, tables.Pickem) {
			if r.Open || r.Step != 0 || len(r.SK) > 7 && r.SK[:7] == "BEFORE#" {
				t.Errorf("handled %d times: %+v is left", times, r)
			}
		}
	}
}

// TestInterruptedMessageIsRepeated: a message that stops at any call is delivered again, and the
// scoring ends as if it had not stopped.
func TestInterruptedMessageIsRepeated(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]any {
		w := pickemtest.New(t)
		id := addCrowd(w, 7, 1)
		_, left, err := work(w, small(w, w.CrashingEnv(score.ScoreEventFunction(), p)), score.Request{EventID: id})
		p.Ended(err)

		finish(w, append(left, take(w)...)...)

		return shown(w, id)
	})
}

// TestCorrectionDuringAScoring: if results change before any message of a scoring, all members have
// the points of the new results at the end.
func TestCorrectionDuringAScoring(t *testing.T) {
	t.Parallel()

	for at, messages := 1, 2; at <= messages; at++ {
		w := pickemtest.New(t)
		id := addCrowd(w, 12, 0)
		s := small(w, w.Env(score.ScoreEventFunction()))

		waiting := []score.Request{{EventID: id}}
		for n := 1; len(waiting) > 0; n++ {
			if n == at {
				e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(id))
				e.ResultsRev++
				m := testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(id), item.MatchSK(pickemtest.MatchID(0)))
				*m.Result = 1
				testkit.PutRows(w.World, tables.Pickem, e)
				testkit.PutRows(w.World, tables.Pickem, m)
			}

			testkit.Must(t, s.ScoreEvent(w.NewContext(), waiting[0]))

			waiting = append(waiting[1:], take(w)...)
			if at == 1 {
				messages = n
			}
		}

		// u00000 has picked one match wrong now, and u00001 none.
		lines := standingLines(w)
		if want := "STANDINGS#2026 u00001: 105 points, 10 right, 1 played"; len(lines) != 12 || lines[1] != want {
			t.Errorf("before message %d of %d: %q, want %q", at, messages, lines, want)
		}

		got := shown(w, id)
		if all := got[id].([]ranking.Row); len(all) != 12 || all[0].UserID != "u00001" || got["event"].(item.Event).State != item.Scored {
			t.Errorf("before message %d of %d: the ranking is %+v", at, messages, all)
		}
	}
}

// TestRequestDuringAScoringDoesNothing: while a later message of a scoring is under way. Once there
// was no message for two minutes, a request begins again.
func TestRequestDuringAScoringDoesNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := addCrowd(w, 17, 0)
	s := small(w, w.Env(score.ScoreEventFunction()))

	request := score.Request{EventID: id}
	testkit.Must(t, s.ScoreEvent(w.NewContext(), request))
	second := take(w)
	testkit.Must(t, s.ScoreEvent(w.NewContext(), second[0]))
	third := take(w)

	calls := w.CountCalls(func() { testkit.Must(t, s.ScoreEvent(w.NewContext(), request)) })
	if diff := cmp.Diff(map[string]int{"GetItem": 1, "Query": 1, "UpdateItem": 1}, calls); diff != "" || len(take(w)) != 0 {
		t.Errorf("calls of a request during a scoring (-want +got):\n%s", diff)
	}

	w.MoveClock(w.Clock.Now().Add(ranking.Quiet + time.Second))
	testkit.Must(t, s.ScoreEvent(w.NewContext(), request))

	// The messages of the scoring that was given up do nothing any more.
	fourth := take(w)
	calls = w.CountCalls(func() { testkit.Must(t, s.ScoreEvent(w.NewContext(), third[0])) })

	if calls["TransactWriteItems"] != 0 || len(take(w)) != 0 {
		t.Errorf("calls of an overtaken message: %v", calls)
	}

	finish(w, fourth...)

	if got := len(standingLines(w)); got != 17 {
		t.Errorf("%d members are scored, want 17", got)
	}
}

// TestRebuildContinuesInMessages: a rebuilding that ends after each page leaves what one run leaves.
func TestRebuildContinuesInMessages(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := addCrowd(w, 23, 3)
	testkit.Must(t, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: id}))
	want := shown(w, id)

	for n := range 23 {
		if n%3 == 0 {
			wrong := standingAfter(fmt.Sprintf("u%05d", n), 77)
			testkit.PutRows(w.World, tables.Pickem, wrong)
		}
	}

	s := testkit.Open(w.World, score.RebuildStandingsFunction(), score.OpenScorer).Bound(0, 5, 4)

	// The predictions of addCrowd before the last event have one point, and are its standings.
	got, err := s.RebuildStandings(w.NewContext(), score.RebuildStandings{Year: 2026})
	if err != nil || got.Members != 5 || !got.Continues {
		t.Errorf("the rebuild returned %+v, %v; want 5 members and more in messages", got, err)
	}

	finish(w, take(w)...)

	if diff := cmp.Diff(want, shown(w, id)); diff != "" {
		t.Errorf("after the rebuild (-want +got):\n%s", diff)
	}
}

// TestScoringHasAPace: what is written to one partition stays below its limit: a message is never more
// than a second ahead of it, and the clock passes the time of the wait.
func TestScoringHasAPace(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	s := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)

	for _, c := range []struct {
		units []int
		want  time.Duration
	}{{[]int{900}, 0}, {[]int{450, 450, 450, 450}, 1500 * time.Millisecond}, {[]int{900, 900, 900, 90}, 3100 * time.Millisecond}} {
		began := w.Clock.Now()
		testkit.Must(t, s.Write(w.NewContext(), c.units...))

		if got := w.Clock.Now().Sub(began); got != c.want {
			t.Errorf("%v units took %v, want %v", c.units, got, c.want)
		}
	}

	// 450 members: 900 units in the index of the event.
	id := addCrowd(w, 120, 0)
	began := w.Clock.Now()
	testkit.Must(t, s.ScoreEvent(w.NewContext(), score.Request{EventID: id}))

	if got := w.Clock.Now().Sub(began); got > time.Second {
		t.Errorf("120 members took %v, want less than a second of waiting", got)
	}
}
