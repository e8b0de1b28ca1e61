package live_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

// endedMatch returns a world whose match 7 has ended without a result, and the finisher. From then on the
// provider's page is *page.
func endedMatch(t *testing.T, page *string) (*crickettest.World, *live.Finisher) {
	*page = pageOf("Finished", tied)
	w, s, _ := matchLeft(t, func() (int, string) { return http.StatusOK, *page })
	testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)

	return w, s
}

// asAdministrator calls a route of match 7.
func asAdministrator(w *crickettest.World, fn app.Function, path, body string) string {
	out := testkit.Call(w.Routes(), fn, "/matches/"+path, testkit.Administrator, body)
	return fmt.Sprint(out.StatusCode, " ", out.Body)
}

func TestAdministratorReopensAMatch(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		page string
		open bool
	}{
		"whose play is on":      {pageOf("2nd Innings"), true},
		"whose page is over":    {pageOf("Finished", tied), false},
		"of an unknown status":  {pageOf("Super"), false},
		"that rain interrupted": {pageOf("Int."), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var page string

			w, s := endedMatch(t, &page)
			page = c.page

			if got := asAdministrator(w, live.ReopenMatchFunction(), "7/reopen", ""); !strings.HasPrefix(got, "202 ") {
				t.Fatalf("the answer is %s, want 202", got)
			}

			testkit.Drain(w.World, tables.FinishQueue, time.Minute, s.FinishMatch)
			w.Logs.TakeWarnings()

			if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); (f.EndingAt == 0) != c.open {
				t.Errorf("the row is %+v, want it open: %v", f, c.open)
			}
		})
	}
}

// TestAdministratorCorrectsAResult: followers are told once of another winner, and no later page of the provider
// replaces the result.
func TestAdministratorCorrectsAResult(t *testing.T) {
	t.Parallel()

	var page string

	w, s := endedMatch(t, &page)

	const valley = `{"kind":"won","winnerId":"12","wickets":3}`
	for range 2 {
		if got := asAdministrator(w, live.CorrectResultFunction(), "7/result", valley); !strings.HasPrefix(got, "202 ") {
			t.Fatalf("the answer is %s, want 202", got)
		}

		testkit.Drain(w.World, tables.FinishQueue, time.Minute, s.FinishMatch)
	}

	page = wonByThree
	w.MoveClock(w.Clock.Now().Add(live.KeepFollows))
	testkit.Drain(w.World, tables.FinishQueue, 5*time.Minute, s.FinishMatch)
	w.Logs.TakeWarnings()

	if diff := cmp.Diff([]string{"No result", "Result corrected: Valley won by 3 wickets"}, alertsOf(w, event.Result)); diff != "" {
		t.Errorf("alerts of the result (-want +got):\n%s", diff)
	}

	row, _, err := match.ReadScore(w.NewContext(), w.DB(), "7")
	testkit.Must(t, err)

	if r := row.State.Result; r.Text != "Valley won by 3 wickets" || !r.Confirmed {
		t.Errorf("the result is %+v, want that of the administrator", r)
	}

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.FinishedAt == 0 {
		t.Errorf("the row is %+v, want it finished", f)
	}
}

// TestReviewFindsACorrectionThatWasNotMade: the request died before its message, or its page could not be read.
func TestReviewFindsACorrectionThatWasNotMade(t *testing.T) {
	t.Parallel()

	valley := &score.Result{Kind: score.Won, WinnerID: "12", Wickets: 3, Confirmed: true}

	for name, request := range map[string]func(*crickettest.World, *live.Finisher){
		"no message": func(w *crickettest.World, _ *live.Finisher) {
			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			f.Corrected = valley
			testkit.PutRows(w.World, tables.Fixtures, f)
		},
		"no page": func(w *crickettest.World, s *live.Finisher) {
			asAdministrator(w, live.CorrectResultFunction(), "7/result", `{"kind":"won","winnerId":"12","wickets":3}`)

			before := w.Override
			w.Override = func(string) (int, string) { return http.StatusInternalServerError, "" }

			testkit.Drain(w.World, tables.FinishQueue, 2*live.SettleAfter, s.FinishMatch)
			w.Override = before
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var page string

			w, s := endedMatch(t, &page)
			request(w, s)
			testkit.Drain(w.World, tables.FinishQueue, 2*time.Hour, s.FinishMatch)
			w.Logs.TakeWarnings()

			if diff := cmp.Diff([]string{"No result", "Result corrected: Valley won by 3 wickets"}, alertsOf(w, event.Result)); diff != "" {
				t.Errorf("alerts of the result (-want +got):\n%s", diff)
			}

			ends := 0
			for _, m := range testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue) {
				if m.Ended == testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").EndingAt {
					ends++
				}
			}

			if ends != 1 {
				t.Errorf("the end with the result is sent %d times, want once: it is not withdrawn again", ends)
			}
		})
	}
}

func TestEndIsNotChangedByAWrongRequest(t *testing.T) {
	t.Parallel()

	var page string

	w, _ := endedMatch(t, &page)
	w.AddFixture("8")

	finished := w.AddFixture("9")
	finished.EndingAt, finished.FinishedAt = 1, 2
	testkit.PutRows(w.World, tables.Fixtures, finished)

	for _, c := range []struct {
		path, body string
		want       string // status, and the code of the problem
	}{
		{"7/result", `{"kind":"won"}`, "400 bad_request"},
		{"7/result", `{"kind":"tied","winnerId":"11"}`, "400 bad_request"},
		{"7/result", `{"kind":"drawn","runs":1}`, "400 bad_request"},
		{"7/result", `{"kind":"won","winnerId":"11","runs":1,"wickets":1}`, "400 bad_request"},
		{"7/result", `{"kind":"won","winnerId":"11","innings":true}`, "400 bad_request"},
		{"7/result", `{"kind":"won","winnerId":"13"}`, "400 team_not_in_match"},
		{"7/result", `{"kind":"lost"}`, "422 invalid"},
		{"8/result", `{"kind":"tied"}`, "409 match_not_ended"},
		{"9/result", `{"kind":"tied"}`, "409 match_not_ended"},
		{"10/result", `{"kind":"tied"}`, "404 match_not_found"},
		{"8/reopen", "", "409 match_not_ended"},
		{"9/reopen", "", "409 match_not_ended"},
		{"10/reopen", "", "404 match_not_found"},
	} {
		fn := live.CorrectResultFunction()
		if strings.HasSuffix(c.path, "reopen") {
			fn = live.ReopenMatchFunction()
		}

		status, code, _ := strings.Cut(c.want, " ")
		if got := asAdministrator(w, fn, c.path, c.body); !strings.HasPrefix(got, status+" ") || !strings.Contains(got, ":"+code+`"`) {
			t.Errorf("the answer to %s %s is %s, want %s", c.path, c.body, got, c.want)
		}
	}
}

func TestCrashWhileCorrectingIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		var page string

		w, restarted := endedMatch(t, &page)
		f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
		w.MoveClock(w.Clock.Now().Add(time.Minute)) // so that the next end has another time
		asAdministrator(w, live.CorrectResultFunction(), "7/result", `{"kind":"won","winnerId":"12"}`)

		m := live.MatchLeft{MatchID: "7", Since: w.Clock.Now().Unix(), Asked: "corrected", Ending: f.EndingAt}

		s := testkit.OpenWith(w.World, w.CrashingEnv(live.FinishMatchFunction(), p), live.OpenFinisher)
		if p.Ended(s.FinishMatch(w.NewContext(), m), "/api/*/fixtures/*", "UpdateItem *-cricket-locks") {
			w.MoveClock(w.Clock.Now().Add(live.FinishMatchFunction().VisibilityTimeout()))
			testkit.Must(t, restarted.FinishMatch(w.NewContext(), m))
		}

		testkit.Drain(w.World, tables.FinishQueue, 2*time.Minute, restarted.FinishMatch)
		w.Logs.TakeWarnings()

		return w.Outcome()
	})
}
