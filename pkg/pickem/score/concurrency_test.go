package score_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// standingLines returns the standings.
func standingLines(w *pickemtest.Room) (all []string) {
	for _, s := range testkit.Rows[item.Standing](w.World, tables.Pickem) {
		if s.Type == item.StandingType {
			all = append(all, fmt.Sprintf("%s %s: %d points, %d right, %d played", s.SK, s.UserID(), s.Points, s.Correct, s.Played))
		}
	}

	slices.Sort(all)

	return all
}

// TestConcurrentScoringsOfTwoEvents scores an event before each call of the scoring of another.
// Each member has the points of both.
func TestConcurrentScoringsOfTwoEvents(t *testing.T) {
	t.Parallel()

	again := 0

	for at, undisturbed := 1, 2; at <= undisturbed; at++ {
		w := pickemtest.New(t)
		ids := w.RequestScores("clash-of-tides", "dawn-of-tides")

		env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
			if err := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
				score.Request{EventID: ids[1]}); err != nil {
				t.Error(err)
			}
		}, func(pickemtest.Write) {})
		if err := testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: ids[0]}); err != nil {
			t.Fatal(err)
		}

		if at == 1 {
			undisturbed = wire.Calls
		} else if wire.Calls > undisturbed {
			again++
		}

		want := []string{
			"STANDINGS#2026 ann: 20 points, 2 right, 2 played", "STANDINGS#2026 bob: 40 points, 2 right, 2 played",
		}
		if got := standingLines(w); !slices.Equal(got, want) {
			t.Errorf("before call %d: the standings (-want +got):\n%s", at, cmp.Diff(want, got))
		}
	}

	if again == 0 {
		t.Error("no scoring conflicted with the other")
	}
}

// TestOldScoringDoesNotReplaceNewerPoints corrects and scores a result before each call of the
// scoring of the previous result, which then continues or crashes at any of its calls.
func TestOldScoringDoesNotReplaceNewerPoints(t *testing.T) {
	t.Parallel()

	const calls = 6 // of a scoring of one member, which makes them one after the other
	for at := 1; at <= calls; at++ {
		for crash := at; crash <= calls+1; crash++ {
			t.Run(fmt.Sprintf("before call %d, crash at %d", at, crash), func(t *testing.T) {
				t.Parallel()
				w := pickemtest.New(t)
				id := w.RequestScoresOf([]string{"ann"}, "clash-of-tides")[0]
				want := []string{"STANDINGS#2026 ann: 30 points, 2 right, 1 played"}

				old, wire := w.Observe(score.ScoreEventFunction(), at, func() {
					w.EnterResults(id, 0, 0)

					if err := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
						score.Request{EventID: id}); err != nil {
						t.Error(err)
					}

					if got := standingLines(w); !slices.Equal(got, want) {
						t.Errorf("the standings after the correction (-want +got):\n%s", cmp.Diff(want, got))
					}
				}, func(pickemtest.Write) {})
				if crash <= calls {
					old.AWS = dynamotest.CrashAt(crash, crash == at).AWS(old.AWS) // the call was made
				}

				err := testkit.OpenWith(w.World, old, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id})
				if crash > calls && err != nil || err != nil && !errors.Is(err, dynamotest.ErrCrashed) {
					t.Errorf("the old scoring returned %v", err)
				}

				if wire.Calls < at {
					t.Errorf("the old scoring made %d calls", wire.Calls)
				}

				if got := standingLines(w); !slices.Equal(got, want) {
					t.Errorf("the standings (-want +got):\n%s", cmp.Diff(want, got))
				}

				if e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag,
					item.EventRef(id)); e.State != item.Scored || e.ScoredRev != e.ResultsRev {
					t.Errorf("the event is %+v, want one scored by the latest results", e)
				}
			})
		}
	}
}

// TestScoredMemberIsNotWrittenAgain: a scoring whose index is behind finds that a member has the
// points already, and writes nothing.
func TestScoredMemberIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := w.RequestScores("clash-of-tides")[0]
	on, err := item.ReadEventWithCard(w.NewContext(), w.DB(), id)
	testkit.Must(t, err)

	s := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)
	testkit.Must(t, s.ScoreMember(w.NewContext(), on, "ann"))

	calls := w.CountCalls(func() { testkit.Must(t, s.ScoreMember(w.NewContext(), on, "ann")) })
	if diff := cmp.Diff(map[string]int{"Query": 1}, calls); diff != "" {
		t.Errorf("calls of a second scoring (-want +got):\n%s", diff)
	}
}

// TestScoringNeedsARequest: a message about an event whose scoring nobody requested is
// rejected.
func TestScoringNeedsARequest(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	w.EnterResults(pickemtest.LockedShow, 0, 1)

	err := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: pickemtest.LockedShow})
	if got, want := pickemtest.CodeOf(err), "event_not_ready"; got != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// TestScoringRestoresNoDeletedEvent: the points of an event are withdrawn, and the event is
// deleted, before any call of another run of the same scoring.
func TestScoringRestoresNoDeletedEvent(t *testing.T) {
	t.Parallel()

	for at, calls := 1, 2; at <= calls; at++ {
		w := pickemtest.New(t)
		id := w.RequestScoresOf([]string{"ann"}, "clash-of-tides")[0]
		w.ScoreQueued()
		w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(id, 1)+"/result", `{"result":null}`)
		env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
			w.ScoreQueued()
			w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(id), "")
			w.MoveClock(w.Clock.Now().Add(time.Hour))
			testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
		}, func(pickemtest.Write) {})
		testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id}))

		if at == 1 {
			calls = 20
		}

		if wire.Calls < at {
			break
		}

		for key := range w.Rows() {
			if strings.HasPrefix(key, "EVENT") || strings.Contains(key, "ann EVENT#") {
				t.Errorf("after a deletion before call %d: the row %q", at, key)
			}
		}
	}
}

// TestDeletedEventIsNotScored: a request that arrives after the deletion succeeds, with a
// warning, so that it is not repeated.
func TestDeletedEventIsNotScored(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	testkit.Must(t, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: pickemtest.Show}))

	if got, want := w.Logs.TakeWarnings(), []string{"the event is gone"}; !slices.Equal(got, want) || len(w.Rows()) != 0 {
		t.Errorf("warnings %q and rows %v, want %q and none", got, w.Rows(), want)
	}
}

// TestCardOfTooManyPoints: a scoring that has read the card between two of its changes, whose
// points do not fit into a key, fails and writes nothing. It is repeated.
func TestCardOfTooManyPoints(t *testing.T) {
	t.Parallel()

	for points, want := range map[int]string{item.MaxEventPoints: "", item.MaxEventPoints + 1: "changed"} {
		w := pickemtest.New(t)
		id := w.RequestScoresOf([]string{"ann"}, "clash-of-tides")[0]
		on, err := item.ReadEventWithCard(w.NewContext(), w.DB(), id)
		testkit.Must(t, err)

		on.Card, on.Bonus = on.Card[:1], 0
		on.Card[0].Points, on.Card[0].Result = points, new(0)

		err = testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreMember(w.NewContext(), on, "ann")
		if got := pickemtest.CodeOf(err); got != want {
			t.Errorf("%d points: got %v, want the code %q", points, err, want)
		}

		if got := len(standingLines(w)); (got == 1) != (want == "") {
			t.Errorf("%d points: %d standings, want one only if they fit", points, got)
		}
	}
}
