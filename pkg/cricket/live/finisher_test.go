package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// matchLeft returns a world whose match 7 has just left the feed, the finisher, and
// the message that the ticker sent. The provider's page of the match is page.
func matchLeft(t *testing.T, page func() (int, string)) (*crickettest.World, *live.Finisher, live.MatchLeft) {
	w := crickettest.New(t)
	f := w.AddFixture("7")
	w.SetPayload(crickettest.Payload(f, "2nd Innings", crickettest.Ball{ID: 1, Runs: 1}))
	tk := w.Ticker()
	w.TickAt(tk, 0)
	w.Override = func(path string) (int, string) {
		if path == "/fixtures/7" {
			return page()
		}

		return http.StatusOK, crickettest.Feed()
	}
	w.TickAt(tk, 1)
	w.TickAt(tk, 4)
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(_ context.Context, _ activity.MatchChanged) error { return nil })

	for i := range 60 {
		testkit.PutRows(w.World, tables.Follows, map[string]any{"matchId": "7", "userId": fmt.Sprint("fan ", i)})
	}

	testkit.PutRows(w.World, tables.Follows, map[string]any{"matchId": "8", "userId": "fan of another"})

	got := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)
	if len(got) != 1 || got[0].MatchID != "7" || got[0].Since != crickettest.At(4).Unix() {
		t.Fatalf("the ticker sent %+v, want one message for match 7", got)
	}

	return w, testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher), got[0]
}

// pageOf returns the body of /fixtures/7: a match of that status that the local team
// has won, with JSON members that replace others.
func pageOf(status string, fields ...string) string {
	f := crickettest.Payload(match.Fixture{MatchID: "7", LeagueID: "3", SeasonID: "5", Type: "T20", LocalTeamID: "11", VisitorTeamID: "12"},
		status, crickettest.Ball{ID: 1, Runs: 1})
	for _, field := range fields {
		f = strings.Replace(f, "{", "{"+field+",", 1)
	}

	return `{"data":` + f + `}`
}

const (
	wonBy   = `"winner_team_id":11`
	wonNote = `"note":"Harbour won by 3 runs"`
	tied    = `"draw_noresult":"no result"`
	level   = `"note":"Match tied","runs":[{"team_id":11,"inning":1,"score":1,"wickets":0,"overs":20},{"team_id":12,"inning":2,"score":1,"wickets":0,"overs":20}]`
)

func TestMatchEndsWhenItsPageConfirmsIt(t *testing.T) {
	t.Parallel()

	never := time.Duration(-1)
	for name, c := range map[string]struct {
		page  func(sinceLeft time.Duration) (int, string)
		after time.Duration // from the time it left to its end, or never
	}{
		"over":      {func(time.Duration) (int, string) { return 200, pageOf("Finished", tied) }, 0},
		"abandoned": {func(time.Duration) (int, string) { return 200, pageOf("Aban.") }, live.CalledOffAfter},
		"in play":   {func(time.Duration) (int, string) { return 200, pageOf("2nd Innings") }, never},
		"stumps":    {func(time.Duration) (int, string) { return 200, pageOf("Stump Day 1") }, never},
		"over later": {func(sinceLeft time.Duration) (int, string) {
			if sinceLeft < 5*time.Minute {
				return 200, pageOf("2nd Innings")
			}

			return 200, pageOf("Finished", tied)
		}, 5 * time.Minute},
		"abandoned, in play, and abandoned again": {func(sinceLeft time.Duration) (int, string) {
			if sinceLeft == 3*time.Minute {
				return 200, pageOf("2nd Innings")
			}

			return 200, pageOf("Aban.")
		}, 4*time.Minute + live.CalledOffAfter},
		"deleted, there, and deleted again": {func(sinceLeft time.Duration) (int, string) {
			if sinceLeft == time.Minute {
				return 200, pageOf("Stump Day 1")
			}

			return 404, `{"message":"no"}`
		}, 2*time.Minute + live.SettleAfter},
		"tied, for a super over may follow": {func(time.Duration) (int, string) { return 200, pageOf("Finished", level) }, live.SettleAfter},
		"tied in five days": {func(time.Duration) (int, string) {
			return 200, strings.Replace(pageOf("Finished", level), `"type":"T20"`, `"type":"Test/5day"`, 1)
		}, 0},
		"without a winner for long": {func(time.Duration) (int, string) { return 200, pageOf("Finished") }, live.UnknownAfter},
		"without a winner for twenty minutes": {func(sinceLeft time.Duration) (int, string) {
			if sinceLeft < 20*time.Minute {
				return 200, pageOf("Finished")
			}

			return 200, pageOf("Finished", tied)
		}, 20 * time.Minute},
		"with two winners for long": {func(time.Duration) (int, string) { return 200, pageOf("Finished", `"winner_team_id":12`, wonNote) },
			live.SettleAfter},
		"deleted by the provider":     {func(time.Duration) (int, string) { return 404, `{"message":"no"}` }, live.SettleAfter},
		"a provider that is down":     {func(time.Duration) (int, string) { return 500, `` }, never},
		"a provider that sends pages": {func(time.Duration) (int, string) { return 200, `<html>` }, never},
		"disagreeing at first": {func(sinceLeft time.Duration) (int, string) {
			if sinceLeft < 3*time.Minute {
				return 200, pageOf("Finished", wonBy)
			}

			return 200, pageOf("Finished", wonBy, tied)
		}, live.SettleAfter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var w *crickettest.World

			w, s, first := matchLeft(t, func() (int, string) { return c.page(sinceLeft(w)) })
			requests := testkit.Drain(w.World, tables.FinishQueue, live.UnknownAfter+5*time.Minute, s.FinishMatch)
			if c.after >= 0 { // nothing changes until the last review
				w.MoveClock(crickettest.At(4).Add(c.after + live.KeepFollows))
				testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)
			}

			unread := w.Logs.Find(slog.LevelWarn, "the provider's page of the match cannot be read")
			if broken := strings.HasPrefix(name, "a provider that"); (len(unread) > 0) != broken ||
				broken && (unread[0]["match"] != "7" || unread[0]["err"] == nil) {
				t.Errorf("the log has %v of pages that cannot be read, want the match and the reason: %t", unread, broken)
			}

			var finished []map[string]any
			if c.after >= 0 {
				finished = []map[string]any{{"match": "7"}}
			}

			if diff := cmp.Diff(finished, w.Logs.Find(slog.LevelInfo, "match finished")); diff != "" {
				t.Errorf("matches that are logged as finished (-want +got):\n%s", diff)
			}

			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			if c.after < 0 {
				if f.FinishedAt != 0 || requests < 29 {
					t.Errorf("after %d requests the row is %+v, want no finishedAt after 29 or more", requests, f)
				}

				if f.ArchivedAt != 0 {
					t.Error("it stays archived, want it to be waited for")
				}

				if n := len(testkit.Rows[follower.Follow](w.World, tables.Follows)); n != 61 {
					t.Errorf("%d follows are left, want 61", n)
				}

				if sent := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); slices.ContainsFunc(sent,
					func(m activity.MatchChanged) bool { return m.Ended != 0 }) {
					t.Errorf("its activities are ended: %+v", sent)
				}

				return
			}

			when := crickettest.At(4).Add(c.after)
			if f.EndingAt != when.Unix() || f.FinishedAt != when.Add(live.KeepFollows).Unix() || f.Live != "" || f.LiveUpdatedAt != 0 {
				t.Errorf("the row is %+v, want endingAt %d", f, when.Unix())
			}

			if left := crickettest.At(4).Unix(); f.ArchivedAt != left && f.ArchivedAt != when.Unix() { // it was waited for, or not
				t.Errorf("archivedAt is %d, want %d, when it left, or %d, when it ended", f.ArchivedAt, left, when.Unix())
			}

			if kept := testkit.Rows[follower.Follow](w.World, tables.Follows); len(kept) != 1 || kept[0].MatchID != "8" {
				t.Errorf("%d follows are left, want that of match 8", len(kept))
			}

			if n := len(testkit.Rows[live.Sent](w.World, tables.StateHashes)); n != 0 {
				t.Errorf("%d hashes are left, want 0", n)
			}

			sent := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)
			if last := sent[len(sent)-1]; last.Ended != when.Unix() {
				t.Errorf("the last message is %+v, want Ended %d", last, when.Unix())
			}

			if n := len(slices.DeleteFunc(slices.Clone(sent), func(m activity.MatchChanged) bool { return m.Ended == 0 })); n != 1 {
				t.Errorf("the end was sent %d times, want once", n)
			}

			// A second delivery, and a later message, change nothing.
			want := w.Outcome()
			w.MoveClock(w.Clock.Now().Add(time.Minute))

			for _, m := range []live.MatchLeft{first, {MatchID: "7", Since: w.Clock.Now().Unix()}} {
				calls := w.CountCalls(func() { testkit.Must(t, s.FinishMatch(w.NewContext(), m)) })
				if diff := cmp.Diff(want, w.Outcome()); diff != "" || len(calls) != 1 {
					t.Errorf("a second run makes the calls %v, want one read (-want +got):\n%s", calls, diff)
				}
			}
		})
	}
}

// TestFinishReportsFailedCalls: of a match that may go on. Only the request of the page may fail
// without an error: it is made again later.
func TestFinishReportsFailedCalls(t *testing.T) {
	t.Parallel()
	w, s, m := matchLeft(t, func() (int, string) { return 200, pageOf("2nd Innings") })
	left := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	dynamotest.CheckFailures(t, &w.IO, func() error {
		testkit.PutRows(w.World, tables.Fixtures, left)
		return s.FinishMatch(w.NewContext(), m)
	}, "/api/*/fixtures/*", "UpdateItem *-cricket-locks")
}

// sinceLeft returns how long ago the match of matchLeft left the feed.
func sinceLeft(w *crickettest.World) time.Duration { return w.Clock.Now().Sub(crickettest.At(4)) }

func TestFinishIgnoresLiveAndUnknownMatches(t *testing.T) {
	t.Parallel()
	w, s, m := matchLeft(t, func() (int, string) { return 200, pageOf("Finished", tied) })
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.Live, f.LiveUpdatedAt, f.ArchivedAt = match.Live, crickettest.At(6).UnixMilli(), 0
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.MoveClock(crickettest.At(8))

	before := w.Outcome()
	for _, m := range []live.MatchLeft{m, {MatchID: "9", Since: m.Since}} { // back in the feed; unknown
		testkit.Must(t, s.FinishMatch(w.NewContext(), m))
	}

	if diff := cmp.Diff(before, w.Outcome()); diff != "" {
		t.Errorf("it changes (-before +after):\n%s", diff)
	}
}

func TestMatchThatNeverEndsIsEnded(t *testing.T) {
	t.Parallel()
	w, s, m := matchLeft(t, func() (int, string) { return 500, "" })
	testkit.Drain(w.World, tables.FinishQueue, 0, func(_ context.Context, _ live.MatchLeft) error { return nil })
	w.MoveClock(crickettest.At(4).Add(match.Fixture{Type: "T20"}.Lasts() + time.Minute))
	testkit.Must(t, s.FinishMatch(w.NewContext(), m))

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.EndingAt != w.Clock.Now().Unix() {
		t.Errorf("the row is %+v, want it ended: no activity is left on a lock screen", f)
	}

	if c := w.Logs.TakeWarnings(); !slices.Contains(c, "the match never ended") {
		t.Errorf("the log has %q, want \"the match never ended\"", c)
	}
}

// TestPhonesShowTheResultAtTheEnd plays a match to its end, with phones.
func TestPhonesShowTheResultAtTheEnd(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()
	m := w.Play(4, cricsheet.T20, match.SlotLength)

	phones := map[string]string{"local": crickettest.ID(m.Local.ID), "visitor": crickettest.ID(m.Visitor.ID), "neutral": ""}
	for name, team := range phones {
		w.Subscribe(crickettest.ID(m.ID), name, team)
	}

	tk := w.Ticker()
	s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))

	last := len(m.Frames) - 2
	for n := last - 5; n < last+15; n++ {
		w.TickAt(tk, n)
		testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)
		w.DrainPushes(0, p)
	}

	testkit.Drain(w.World, tables.FinishQueue, live.KeepFollows, s.FinishMatch)

	want := map[string]string{}

	for name, team := range phones {
		view := crickettest.MatchOf(m, crickettest.KickOff).Perspective(team)

		want[name] = string(testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey(crickettest.ID(m.ID), view)).Display)
		if !strings.Contains(want[name], `"phase":"result"`) {
			t.Errorf("the %s perspective is %s", name, want[name])
		}
	}

	w.ExpectPhones("after the match", want, true)

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures,
		crickettest.ID(m.ID)); f.FinishedAt == 0 || f.Status != "Finished" || w.Subscribers() != nil {
		t.Errorf("the match is %+v, with the subscriptions %q; want it finished without any", f, w.Subscribers())
	}
}

// TestOneWrongPageDoesNotEndAMatch: between two days of a Test, the match is missing or over on
// one page.
func TestOneWrongPageDoesNotEndAMatch(t *testing.T) {
	t.Parallel()

	for name, wrong := range map[string]func() (int, string){
		"not there":            func() (int, string) { return http.StatusNotFound, `{"message":"no"}` },
		"over, with no winner": func() (int, string) { return http.StatusOK, pageOf("Finished") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			requests := 0
			w, s, _ := matchLeft(t, func() (int, string) {
				if requests++; requests == 20 {
					return wrong()
				}

				return http.StatusOK, pageOf("Stump Day 1")
			})
			testkit.Drain(w.World, tables.FinishQueue, 30*time.Minute, s.FinishMatch)

			if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.EndingAt != 0 || requests < 21 {
				t.Errorf("after %d requests the row is %+v, want no endingAt after 21 or more", requests, f)
			}
		})
	}
}

// TestFalselyFinishedMatchIsUnarchived has the feed drop a match as finished whose
// page has it in play.
func TestFalselyFinishedMatchIsUnarchived(t *testing.T) {
	t.Parallel()
	w, s, _ := matchLeft(t, func() (int, string) { return http.StatusOK, pageOf("2nd Innings") })
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	f.Status = "Finished"
	testkit.PutRows(w.World, tables.Fixtures, f)
	testkit.Drain(w.World, tables.FinishQueue, 3*time.Minute, s.FinishMatch)

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.Status != "2nd Innings" || f.ArchivedAt != 0 {
		t.Errorf("the row is %+v", f)
	}
}

// TestPhonesShowWhyAMatchLeft: the feed drops a match before its status says that play has stopped.
func TestPhonesShowWhyAMatchLeft(t *testing.T) {
	t.Parallel()

	for status, phase := range map[string]sportmonks.Phase{
		"Stump Day 1": sportmonks.Stumps, "Lunch": sportmonks.Break, "Int.": sportmonks.Interrupted, "2nd Innings": sportmonks.Live,
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()

			page := pageOf(status, `"updated_at":"2026-06-06T14:00:00.000000Z"`)
			w, s, _ := matchLeft(t, func() (int, string) { return http.StatusOK, page })
			testkit.Drain(w.World, tables.FinishQueue, 5*time.Minute, s.FinishMatch)

			row, _, err := match.ReadScore(w.NewContext(), dynamo.Open(w.AWS, w.Prefix), "7")
			testkit.Must(t, err)

			if row.State.Phase != phase {
				t.Errorf("the phase is %q, want %q of the page", row.State.Phase, phase)
			}

			if sent := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); len(sent) != 1 && phase != sportmonks.Live ||
				len(sent) > 1 {
				t.Errorf("the displays are pushed by %+v, want one message for a page that stays the same", sent)
			}

			if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.Live != "" || f.EndingAt != 0 || f.Status != status {
				t.Errorf("the row is %+v, want a match that is neither live nor ended, with the status of the page", f)
			}
		})
	}
}

// TestPolledMatchIsNotEnded polls a match again after its page was requested.
func TestPolledMatchIsNotEnded(t *testing.T) {
	t.Parallel()

	for name, polled := range map[string]int{"in the same slot": 5, "in a later slot": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, m := matchLeft(t, func() (int, string) { return http.StatusOK, pageOf("Finished", tied) })
			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			w.MoveClock(crickettest.At(5).Add(time.Second))
			asked := w.Clock.Now()
			page, err := s.Provider().Fixture(w.NewContext(), "7")
			testkit.Must(t, err)
			_, err = s.Ingest(w.NewContext(), m.MatchID, page, asked, false)
			testkit.Must(t, err)
			w.SetPayload(crickettest.Payload(f, "2nd Innings", crickettest.Ball{ID: 1, Runs: 1}, crickettest.Ball{ID: 2, Runs: 4}))
			w.TickAt(w.Ticker(), polled)

			if decided, err := s.DecideEnd(w.NewContext(), &f, asked); decided || err != nil {
				t.Errorf("its end is decided: %v, %v", decided, err)
			}

			if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.EndingAt != 0 || f.Live == "" {
				t.Errorf("the row is %+v", f)
			}
		})
	}
}

// TestFinishLeavesAMatchToAnotherWorker: while another worker ingests the match, or has stored
// a later slot, the message is handled later. It is no failure, which would use up a
// receive of the message.
func TestFinishLeavesAMatchToAnotherWorker(t *testing.T) {
	t.Parallel()

	for name, meanwhile := range map[string]func(w *crickettest.World){
		"ingests it": func(w *crickettest.World) {
			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			f.LeaseHolder, f.LeaseUntil = "another", w.Clock.Now().Add(live.Lease).UnixMilli()
			testkit.PutRows(w.World, tables.Fixtures, f)
		},
		"has stored a later slot": func(w *crickettest.World) {
			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			f.LastSlot = match.SlotOf(w.Clock.Now()) + 1
			testkit.PutRows(w.World, tables.Fixtures, f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var w *crickettest.World

			w, s, m := matchLeft(t, func() (int, string) { meanwhile(w); return http.StatusOK, pageOf("Finished", tied) })
			testkit.Drain(w.World, tables.FinishQueue, 0, func(context.Context, live.MatchLeft) error { return nil })
			testkit.Must(t, s.FinishMatch(w.NewContext(), m))

			again := w.Queues.Messages(tables.FinishQueue.Name)
			if len(again) != 1 || again[0].Visible.Sub(w.Clock.Now()) != live.PageInterval {
				t.Errorf("the messages are %+v, want one after %v", again, live.PageInterval)
			}

			if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.EndingAt != 0 {
				t.Errorf("the row is %+v, want no endingAt", f)
			}
		})
	}
}

// TestMatchThatLeftTwiceIsRequestedOnce has a match come back and leave again, which
// sends another message. The earlier message must stop.
func TestMatchThatLeftTwiceIsRequestedOnce(t *testing.T) {
	t.Parallel()

	requests := 0
	w, s, first := matchLeft(t, func() (int, string) { requests++; return 200, pageOf("2nd Innings") })
	tk := w.Ticker()
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")

	without := w.Override
	for n := 10; n < 100; n += 30 { // back for two polls, and away
		w.SetPayload(crickettest.Payload(f, "2nd Innings", crickettest.Ball{ID: 1, Runs: 1}))
		w.TickAt(tk, n)
		w.TickAt(tk, n+1)
		w.Override = without
		w.TickAt(tk, n+2)
		w.TickAt(tk, n+6)
	}

	testkit.Must(t, s.FinishMatch(w.NewContext(), first))

	if requests != 0 {
		t.Error("the first message requests the page, too")
	}

	handled := testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)
	if left := len(testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)); requests != 1 || left != 1 {
		t.Errorf("%d messages made %d requests and left %d messages; want one of each", handled, requests, left)
	}
}

// TestFollowsOutliveTheAlerts: for as long as the queue of the alerts tries one, its followers
// are stored.
func TestFollowsOutliveTheAlerts(t *testing.T) {
	t.Parallel()

	tried := time.Duration(tables.AlertQueue.MaxReceiveCount) * alert.SendAlertsFunction().VisibilityTimeout()
	w, s, _ := matchLeft(t, func() (int, string) { return 200, pageOf("Finished", tied) })
	testkit.Drain(w.World, tables.FinishQueue, tried, s.FinishMatch)

	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	if n := len(testkit.Rows[follower.Follow](w.World, tables.Follows)); n != 61 || f.EndingAt == 0 {
		t.Errorf("%v after the end of %+v %d follows are left, want 61", tried, f, n)
	}
}

// TestFollowsAreRemovedInManyInvocations: one that has removed follows for long leaves the
// others to the next.
func TestFollowsAreRemovedInManyInvocations(t *testing.T) {
	t.Parallel()

	w, s, _ := matchLeft(t, func() (int, string) { return 200, pageOf("Finished", tied) })
	for i := range 30 {
		// 10 rows fill a page
		testkit.PutRows(w.World, tables.Follows,
			map[string]any{"matchId": "7", "userId": fmt.Sprint("more ", i), "padding": strings.Repeat("x", 100_000)})
	}

	all := len(testkit.Rows[follower.Follow](w.World, tables.Follows))
	testkit.Drain(w.World, tables.FinishQueue, live.SettleAfter, s.FinishMatch)
	m := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)[0]
	w.MoveClock(w.Clock.Now().Add(live.KeepFollows))
	*s.Now() = func() time.Time { // each page takes long
		removed := all - len(testkit.Rows[follower.Follow](w.World, tables.Follows))
		return w.Clock.Now().Add(time.Duration(removed) * time.Second)
	}
	testkit.Must(t, s.FinishMatch(w.NewContext(), m))

	left := len(testkit.Rows[follower.Follow](w.World, tables.Follows))
	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); left == all || left == 1 || f.FinishedAt != 0 {
		t.Errorf("the first invocation leaves %d of %d follows, finished at %d; want some and 0", left, all, f.FinishedAt)
	}

	testkit.Drain(w.World, tables.FinishQueue, 0, s.FinishMatch)

	left = len(testkit.Rows[follower.Follow](w.World, tables.Follows))
	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); left != 1 || f.FinishedAt == 0 {
		t.Errorf("all of them leave %d follows, finished at %d; want that of the other match", left, f.FinishedAt)
	}
}

// TestDeletedMatchIsCancelled has the provider delete a match in play. The match is
// cancelled: followers get an alert, phones and pages display it, and its balls are kept.
func TestDeletedMatchIsCancelled(t *testing.T) {
	t.Parallel()
	w, s, _ := matchLeft(t, func() (int, string) { return http.StatusNotFound, `{"message":"no"}` })
	balls := w.Outcome().Balls["7"]
	testkit.Drain(w.World, tables.FinishQueue, live.SettleAfter+live.KeepFollows, s.FinishMatch)
	row, ok, err := match.ReadScore(w.NewContext(), w.DB(), "7")
	testkit.Must(t, err)

	shown := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11")).Display
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")

	type outcome struct {
		Phase, Status, Result, Runs, Balls string
		Shown                              bool
		Alerts                             []string
	}

	got := outcome{
		Shown:  strings.Contains(string(shown), `"phase":"closed"`),
		Alerts: w.Outcome().Alerts,
		Balls:  w.Outcome().Balls["7"],
		Status: f.Status,
	}
	if ok {
		got.Phase, got.Result, got.Runs = string(row.State.Phase), string(row.State.Result.Kind), row.State.SideOf(row.State.Local).Score
	}

	want := outcome{"closed", "Cancl.", "cancelled", "1/0", balls, true,
		[]string{"7 result:cancelled: Match cancelled", "7 start Play has begun"}}
	if diff := cmp.Diff(want, got); diff != "" || f.FinishedAt == 0 {
		t.Errorf("after the deletion the match is %+v (-want +got):\n%s", f, diff)
	}
}

// TestUnpolledMatchStaysWithTheSchedule: a match that was never polled, and whose page
// has it as still to come, is left to sync-fixtures.
func TestUnpolledMatchStaysWithTheSchedule(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	w.Override = func(string) (int, string) { return http.StatusOK, `{"data":` + crickettest.Payload(f, "NS") + `}` }
	s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	testkit.Must(t, s.FinishMatch(w.NewContext(), live.MatchLeft{MatchID: "7", Since: w.Clock.Now().Unix()}))

	if sent := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue); sent != nil {
		t.Errorf("messages to finish-match: %+v, want none", sent)
	}
}

// TestDeletedMatchThatWasNeverPolledEnds: followers of a match that is deleted before it
// starts get an alert, and nothing waits for it any longer.
func TestDeletedMatchThatWasNeverPolledEnds(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	scheduled := w.AddFixture("7")
	scheduled.Round, scheduled.Type = "Final", "ODI"
	testkit.PutRows(w.World, tables.Fixtures, scheduled)
	w.Override = func(string) (int, string) { return http.StatusNotFound, `{"message":"no"}` }
	s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	testkit.Must(t, s.FinishMatch(w.NewContext(), live.MatchLeft{MatchID: "7", Since: w.Clock.Now().Unix()}))
	testkit.Drain(w.World, tables.FinishQueue, live.SettleAfter+live.KeepFollows, s.FinishMatch)

	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	if got := w.Outcome().Alerts; f.FinishedAt == 0 || f.Status != "Cancl." ||
		!slices.Equal(got, []string{"7 result:cancelled: Match cancelled"}) {
		t.Errorf("match %+v, alerts %q; want a finished match and the alert that it is cancelled", f, got)
	}

	row, _, err := match.ReadScore(w.NewContext(), w.DB(), "7")
	testkit.Must(t, err)

	got := []string{row.LeagueID, row.StartingAt, string(row.State.Format), row.State.Round, row.State.Local.ID,
		row.State.Visitor.ID, string(row.State.Phase)}
	if want := []string{"3", scheduled.StartTime, "odi", "Final", "11", "12", "closed"}; !slices.Equal(got, want) {
		t.Errorf("the score is of %q, want %q", got, want)
	}
}
