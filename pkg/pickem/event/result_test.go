package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// TestClearedResultWithdrawsThePoints: an event without all results is not scored. Its
// points are taken back, until it is scored again.
func TestClearedResultWithdrawsThePoints(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	results := pickemtest.AppEvent(pickemtest.ScoredShow) + "/results"
	result := pickemtest.AdminMatch(pickemtest.ScoredShow, 1) + "/result"

	if got := w.Standings("2026"); len(got) != 3 {
		t.Fatalf("the standings before are %+v, want three members", got)
	}

	for range 2 {
		out := w.Ask(event.PutResultFunction(), result, testkit.Administrator, `{"result":null,"reason":"It was another match."}`)
		if out.StatusCode != 200 || testkit.Decode[event.Match](w.World, out).Result != nil {
			t.Fatalf("the answer is %d %s, want 200 without a result", out.StatusCode, out.Body)
		}

		var seen event.EventScreen
		w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.ScoredShow), "ann", &seen.Body)

		if seen.Body.State != item.Broadcast || seen.Body.Prediction.Score != nil {
			t.Errorf("ann sees %+v, want a locked event without a score", seen.Body)
		}

		if err := testkit.CheckProblemCode(w.Ask(event.GetResultsFunction(), results, "ann", ""), 409, "event_not_scored"); err != nil {
			t.Error(err)
		}

		w.ScoreQueued()

		if got := w.Standings("2026"); len(got) != 0 {
			t.Errorf("the standings are %+v, want none", got)
		}
	}

	if err := testkit.CheckProblemCode(w.Ask(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow)+"/score",
		testkit.Administrator, ""), 409, "results_missing"); err != nil {
		t.Error(err)
	}

	var log event.CorrectionList
	w.Read(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/corrections", "ann", &log.Body)

	want := event.Correction{
		At:      pickemtest.Noon.Add(time.Hour),
		MatchID: pickemtest.MatchID(1),
		Match:   "Match 1",
		From:    "Left 1",
		By:      testkit.Administrator,
		Reason:  "It was another match.",
	}
	if got := log.Body.Corrections; len(got) != 3 || got[0] != want {
		t.Errorf("the latest of %d corrections (-want +got):\n%s", len(got), cmp.Diff(want, got[0]))
	}

	w.EnterResults(pickemtest.ScoredShow, 1)
	w.Score(pickemtest.ScoredShow)

	if got := w.Standings("2026"); len(got) != 3 || got[0].UserID != "bob" || got[0].Points != 30 {
		t.Errorf("the standings after a new result are %+v, want bob first with 30 points", got)
	}
}

// TestClearedEventNeedsARequest: a result that is entered again, before the points are withdrawn
// or after, brings them back only by a new request.
func TestClearedEventNeedsARequest(t *testing.T) {
	t.Parallel()

	for name, between := range map[string]func(*pickemtest.Room){
		"before": func(*pickemtest.Room) {},
		"after":  (*pickemtest.Room).ScoreQueued,
	} {
		w := pickemtest.NewSeason(t)
		w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.ScoredShow, 1)+"/result", `{"result":null}`)
		between(w)
		w.EnterResults(pickemtest.ScoredShow, 1)
		w.ScoreQueued()

		e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(pickemtest.ScoredShow))
		if got := w.Standings("2026"); len(got) != 0 || e.State != item.Broadcast || e.ScoringAt != "" {
			t.Errorf("%s the withdrawal, without a request: the event %+v and the standings %+v, want a locked event and none", name, e, got)
		}

		w.Score(pickemtest.ScoredShow)

		if got := w.Standings("2026"); len(got) != 3 || got[0].UserID != "bob" || got[0].Points != 30 {
			t.Errorf("%s the withdrawal, with a request: the standings %+v, want bob first with 30 points", name, got)
		}
	}
}

// TestRequestDuringTheWithdrawal: the points are written also if the scoring is requested before
// any call of the withdrawal.
func TestRequestDuringTheWithdrawal(t *testing.T) {
	t.Parallel()

	for at := 1; ; at++ {
		w := pickemtest.NewSeason(t)
		w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.ScoredShow, 1)+"/result", `{"result":null}`)
		w.EnterResults(pickemtest.ScoredShow, 1)
		env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
			w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow)+"/score", "")
		}, func(pickemtest.Write) {})
		testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(),
			score.Request{EventID: pickemtest.ScoredShow}))

		if wire.Calls < at {
			break
		}

		w.ScoreQueued()

		if got := w.Standings("2026"); len(got) != 3 || got[0].Points != 30 {
			t.Errorf("a request before call %d: the standings %+v, want bob first with 30 points", at, got)
		}
	}
}

// TestResultIsRequired: a request without a result clears none.
func TestResultIsRequired(t *testing.T) {
	t.Parallel()

	w := pickemtest.NewSeason(t)
	for _, body := range []string{`{}`, `{"reason":"none"}`, `{"result":"null"}`, `{"result":-2}`, `{"result":[]}`} {
		got := pickemtest.RefusalOf(w.Ask(event.PutResultFunction(),
			pickemtest.AdminMatch(pickemtest.ScoredShow, 1)+"/result", testkit.Administrator, body))
		if got.Status != 422 || got.Code != "invalid" {
			t.Errorf("%s: %v, want 422 invalid", body, got)
		}
	}
}

// TestClearedResultIsNull: a result of a request is written as it is read.
func TestClearedResultIsNull(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]event.NewResult{"null": event.NoResult, `"void"`: event.NewResult(item.Void), "0": 0, "39": 39} {
		var read event.NewResult
		testkit.Must(t, json.Unmarshal([]byte(text), &read))

		written, err := json.Marshal(want)
		if err != nil || read != want || string(written) != text {
			t.Errorf("%s is read as %d and written as %s, %v; want %d", text, read, written, err, want)
		}
	}
}
