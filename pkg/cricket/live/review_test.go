package live_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
)

// Pages of match 7, which Harbour has won by three runs, or by two.
var (
	wonByThree = pageOf("Finished", wonBy, wonNote, runsOf("4"))
	wonByTwo   = pageOf("Finished", wonBy, `"note":"Harbour won by 2 runs"`, runsOf("3"))
	lost       = pageOf("Finished", `"winner_team_id":12`, `"note":"Valley won by 10 wickets"`, strings.Replace(runsOf("0"), "0.4", "0.1", 1))
)

// runsOf are the totals of match 7, with those runs of Harbour against 1.
func runsOf(harbour string) string {
	return `"runs":[{"team_id":11,"inning":1,"score":` + harbour + `,"wickets":0,"overs":20},` +
		`{"team_id":12,"inning":2,"score":1,"wickets":0,"overs":20}]`
}

// TestEndIsReviewed: the provider changes a match after its end. Three pages in a row decide.
func TestEndIsReviewed(t *testing.T) {
	t.Parallel()

	type outcome struct {
		Result   string
		Alerts   []string // of results
		Ended    int      // how often the end was sent to phones
		Finished bool
	}

	noResult := []string{"No result"}

	for name, c := range map[string]struct {
		pages map[time.Duration]string // by the time since the match left from which the provider has them; "" is not found
		want  outcome
	}{
		"nothing changes":            {nil, outcome{"No result", noResult, 1, true}},
		"a winner after an hour":     {map[time.Duration]string{time.Hour: wonByThree}, outcome{"Harbour won by 3 runs", []string{"No result", "Result corrected: Harbour won by 3 runs"}, 2, true}},
		"a winner on the second day": {map[time.Duration]string{30 * time.Hour: wonByThree}, outcome{"Harbour won by 3 runs", []string{"No result", "Result corrected: Harbour won by 3 runs"}, 2, true}},
		"a winner, and another": {map[time.Duration]string{time.Hour: wonByThree, 3 * time.Hour: lost},
			outcome{"Valley won by 10 wickets", []string{"No result", "Result corrected: Harbour won by 3 runs", "Result corrected: Valley won by 10 wickets"}, 3, true}},
		"another margin": {map[time.Duration]string{time.Hour: wonByThree, 3 * time.Hour: wonByTwo},
			outcome{"Harbour won by 2 runs", []string{"No result", "Result corrected: Harbour won by 3 runs"}, 3, true}},
		"a winner for two pages": {map[time.Duration]string{59 * time.Minute: wonByThree, 61*time.Minute + 30*time.Second: pageOf("Finished", tied)},
			outcome{"No result", noResult, 1, true}},
		"without a winner":      {map[time.Duration]string{time.Hour: pageOf("Finished")}, outcome{"No result", noResult, 1, true}},
		"deleted":               {map[time.Duration]string{time.Hour: ""}, outcome{"No result", noResult, 1, true}},
		"of an unknown status":  {map[time.Duration]string{time.Hour: pageOf("Super")}, outcome{"No result", noResult, 1, true}},
		"a winner after 48 h":   {map[time.Duration]string{49 * time.Hour: wonByThree}, outcome{"No result", noResult, 1, true}},
		"play that has resumed": {map[time.Duration]string{time.Hour: pageOf("2nd Innings")}, outcome{"", noResult, 1, false}},
		"play that has resumed, and a winner": {map[time.Duration]string{time.Hour: pageOf("2nd Innings"), 2 * time.Hour: wonByThree},
			outcome{"Harbour won by 3 runs", []string{"No result", "Harbour won by 3 runs"}, 2, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var w *crickettest.World

			page := func() (int, string) {
				since, latest := time.Duration(-1), pageOf("Finished", tied)

				for from, page := range c.pages {
					if from <= sinceLeft(w) && from > since {
						since, latest = from, page
					}
				}

				if latest == "" {
					return http.StatusNotFound, `{"message":"no"}`
				}

				return http.StatusOK, latest
			}

			var s *live.Finisher

			w, s, _ = matchLeft(t, page)
			if strings.HasPrefix(name, "play that has resumed") { // it is polled while it is on
				testkit.Drain(w.World, tables.FinishQueue, 90*time.Minute, s.FinishMatch)
				f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")

				if f.EndingAt != 0 || f.ArchivedAt != 0 || f.Reopened != 1 {
					t.Errorf("the row is %+v, want a match that is open again", f)
				}

				if n := len(alertsOf(w, event.Start)); n != 2 {
					t.Errorf("%d starts are sent, want that of the match and that of the resumption", n)
				}
			}

			for range 2 * len(live.ReviewAfter) { // again after each correction
				f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
				if f.FinishedAt != 0 {
					break
				}

				now := w.Clock.Now()
				for _, after := range live.ReviewAfter {
					if due := time.Unix(f.EndingAt, 0).Add(after); due.After(now) {
						w.MoveClock(due)
						break
					}
				}

				testkit.Drain(w.World, tables.FinishQueue, 5*time.Minute, s.FinishMatch)
			}

			w.Logs.TakeWarnings()

			row, _, err := match.ReadScore(w.NewContext(), w.DB(), "7")
			testkit.Must(t, err)

			got := outcome{Result: row.State.Result.Text, Alerts: alertsOf(w, event.Result)}
			got.Finished = testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").FinishedAt != 0

			for _, m := range testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue) {
				if m.Ended != 0 {
					got.Ended++
				}
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEndIsSentUnlessItWas: a message of another end, or of an earlier version, does not know whether the present end
// was sent.
func TestEndIsSentUnlessItWas(t *testing.T) {
	t.Parallel()

	const withdrawn = 1 // when the end before was decided

	for name, c := range map[string]struct {
		m    func(ending int64) live.MatchLeft
		sent int
	}{
		"of the present end":            {func(ending int64) live.MatchLeft { return live.MatchLeft{Ended: true, Ending: ending} }, 0},
		"of an end that was withdrawn":  {func(int64) live.MatchLeft { return live.MatchLeft{Ended: true, Ending: withdrawn} }, 1},
		"of an earlier version":         {func(int64) live.MatchLeft { return live.MatchLeft{Ended: true, Reviews: 1} }, 1},
		"of an administrator's request": {func(int64) live.MatchLeft { return live.MatchLeft{Asked: "corrected", Ending: withdrawn} }, 1},
		"that the match has left":       {func(int64) live.MatchLeft { return live.MatchLeft{} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var page string

			w, s := endedMatch(t, &page)
			ending := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").EndingAt

			discard := func(context.Context, live.MatchLeft) error { return nil }
			testkit.Drain(w.World, tables.FinishQueue, live.ReviewAfter[0], discard)
			testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })

			m := c.m(ending)
			m.MatchID, m.Since = "7", ending
			testkit.Must(t, s.FinishMatch(w.NewContext(), m))

			sent := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)
			if len(sent) != c.sent || c.sent > 0 && sent[0].Ended != ending {
				t.Errorf("%+v is sent to phones, want the end %d times", sent, c.sent)
			}

			want := []live.MatchLeft{{MatchID: "7", Since: ending, Ended: true, Ending: ending, Reviews: 1}}
			if diff := cmp.Diff(want, testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)); diff != "" {
				t.Errorf("messages of the next review (-want +got):\n%s", diff)
			}
		})
	}
}

// alertsOf returns the titles of the alerts of a kind that were sent, in order.
func alertsOf(w *crickettest.World, kind event.Kind) (titles []string) {
	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		if m.Kind == kind {
			titles = append(titles, m.Title)
		}
	}

	return titles
}

// TestReinstatedMatchIsUpcoming: a match that was called off before it began is listed again under
// its id, for another day.
func TestReinstatedMatchIsUpcoming(t *testing.T) {
	t.Parallel()

	var w *crickettest.World

	w, s, _ := matchLeft(t, func() (int, string) {
		if sinceLeft(w) < time.Hour {
			return http.StatusOK, pageOf("Cancl.")
		}

		later := w.Clock.Now().Add(72 * time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")
		page := pageOf("NS")
		from := strings.Index(page, `"starting_at":"`) + len(`"starting_at":"`)
		to := from + strings.IndexByte(page[from:], '"')

		return http.StatusOK, page[:from] + later + page[to:]
	})
	testkit.Drain(w.World, tables.FinishQueue, 5*time.Hour, s.FinishMatch)

	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	if f.EndingAt != 0 || f.ArchivedAt != 0 || f.Status != "NS" || f.FinishedAt != 0 {
		t.Errorf("the row is %+v, want an upcoming match", f)
	}

	if left := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue); len(left) > 0 {
		t.Errorf("the messages %+v are left, want none: sync-fixtures handles an upcoming match", left)
	}

	w.Logs.TakeWarnings()
}

// TestMatchThatIsListedOnEnds: the feed lists a match on that is over.
func TestMatchThatIsListedOnEnds(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status string
		fields []string
		ends   bool
	}{
		"over":          {"Finished", []string{tied}, true},
		"abandoned":     {"Aban.", nil, true},
		"of no winner":  {"Finished", nil, false},
		"in play":       {"2nd Innings", nil, false},
		"at the stumps": {"Stump Day 1", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := crickettest.New(t)
			f := w.AddFixture("7")
			page := pageOf(c.status, c.fields...)
			entry := strings.TrimSuffix(strings.TrimPrefix(page, `{"data":`), "}")

			w.Override = func(path string) (int, string) {
				if path == "/fixtures/7" {
					return http.StatusOK, page
				}

				return http.StatusOK, crickettest.Feed(entry)
			}

			tk := w.Ticker()
			s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)

			polls := int(12 * time.Minute / match.SlotLength)
			for n := range polls {
				w.TickAt(tk, n)

				if n%24 == 0 {
					testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)
				}
			}

			f = testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			if (f.EndingAt != 0) != c.ends || c.ends && f.Live != "" {
				t.Errorf("after %d polls the row is %+v, want it ended: %v", polls, f, c.ends)
			}

			ends := slices.DeleteFunc(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue),
				func(m activity.MatchChanged) bool { return m.Ended == 0 })
			if want := map[bool]int{true: 1}[c.ends]; len(ends) != want {
				t.Errorf("the end is sent %d times, want %d", len(ends), want)
			}

			w.Logs.TakeWarnings()
		})
	}
}

func TestCrashWhileReopeningIsRepaired(t *testing.T) {
	t.Parallel()

	for name, page := range map[string]string{"corrected": wonByThree, "resumed": pageOf("2nd Innings")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
				var w *crickettest.World

				w, restarted, _ := matchLeft(t, func() (int, string) {
					if sinceLeft(w) < 10*time.Minute {
						return http.StatusOK, pageOf("Finished", tied)
					}

					return http.StatusOK, page
				})

				var m live.MatchLeft

				for m.Times < live.ConfirmReviews-1 {
					testkit.Drain(w.World, tables.FinishQueue, 0, restarted.FinishMatch)
					w.MoveClock(w.Clock.Now().Add(time.Minute))

					m = testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)[0]
				}

				testkit.Drain(w.World, tables.FinishQueue, 0, func(context.Context, live.MatchLeft) error { return nil })

				s := testkit.OpenWith(w.World, w.CrashingEnv(live.FinishMatchFunction(), p), live.OpenFinisher)
				if p.Ended(s.FinishMatch(w.NewContext(), m), "/api/*/fixtures/*", "UpdateItem *-cricket-locks") {
					w.MoveClock(w.Clock.Now().Add(live.FinishMatchFunction().VisibilityTimeout()))
					testkit.Must(t, restarted.FinishMatch(w.NewContext(), m))
				}

				testkit.Drain(w.World, tables.FinishQueue, 10*time.Minute, restarted.FinishMatch)
				w.Logs.TakeWarnings()

				return w.Outcome()
			})
		})
	}
}
