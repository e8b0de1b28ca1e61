package cricket

import (
	"context"
	"fmt"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// left is a world whose match left the feed just now, with its page saying page.
func left(t *testing.T, page func() (int, string)) (*world, *Finisher, MatchLeft) {
	w := newWorld(t)
	f := w.scripted("7")
	w.says(saidOf(f, "2nd Innings", ballSaid{id: 1, runs: 1}))
	tk := w.ticker()
	w.tickAt(tk, 0)
	w.said = func(path string) (int, string) {
		if path == "/fixtures/7" {
			return page()
		}
		return http.StatusOK, feedOf()
	}
	w.tickAt(tk, 1)
	w.tickAt(tk, 4)
	testkit.Drain(w.World, activityQueue, 0, func(_ context.Context, _ MatchChanged) error { return nil })
	for i := range 60 {
		testkit.Put(w.World, follows, map[string]any{"matchId": "7", "userId": fmt.Sprint("fan ", i)})
	}
	testkit.Put(w.World, follows, map[string]any{"matchId": "8", "userId": "fan of another"})
	got := testkit.Messages[MatchLeft](w.World, finishQueue)
	if len(got) != 1 || got[0].MatchID != "7" || got[0].Since != at(4).Unix() {
		t.Fatalf("the ticker says %+v", got)
	}
	return w, testkit.Open(w.World, FinishMatchFunction, OpenFinisher), got[0]
}

// pageOf is the body of /fixtures/{id}: a match won by the local team, with what
// its fields are said to be instead.
func pageOf(status string, fields ...string) string {
	f := saidOf(fixture{MatchID: "7", LeagueID: "3", SeasonID: "5", Type: "T20", LocalTeamID: "11", VisitorTeamID: "12"}, status, ballSaid{id: 1, runs: 1})
	for _, field := range fields {
		f = strings.Replace(f, "{", "{"+field+",", 1)
	}
	return `{"data":` + f + `}`
}

const (
	wonBy   = `"winner_team_id":11`
	wonNote = `"note":"Harbour won by 3 runs"`
	tied    = `"draw_noresult":"no result"`
)

func TestFinishMatch(t *testing.T) {
	t.Parallel()
	never := time.Duration(-1)
	for name, c := range map[string]struct {
		page  func(gone time.Duration) (int, string)
		after time.Duration // when it ends, since it left; never
	}{
		"over":      {func(time.Duration) (int, string) { return 200, pageOf("Finished", tied) }, 0},
		"abandoned": {func(time.Duration) (int, string) { return 200, pageOf("Aban.") }, calledOff},
		"in play":   {func(time.Duration) (int, string) { return 200, pageOf("2nd Innings") }, never},
		"stumps":    {func(time.Duration) (int, string) { return 200, pageOf("Stump Day 1") }, never},
		"over later": {func(gone time.Duration) (int, string) {
			if gone < 5*time.Minute {
				return 200, pageOf("2nd Innings")
			}
			return 200, pageOf("Finished", tied)
		}, 5 * time.Minute},
		"without a winner for long":   {func(time.Duration) (int, string) { return 200, pageOf("Finished") }, settleBy},
		"with two winners for long":   {func(time.Duration) (int, string) { return 200, pageOf("Finished", `"winner_team_id":12`, wonNote) }, settleBy},
		"deleted by the provider":     {func(time.Duration) (int, string) { return 404, `{"message":"no"}` }, settleBy},
		"a provider that is down":     {func(time.Duration) (int, string) { return 500, `` }, never},
		"a provider that sends pages": {func(time.Duration) (int, string) { return 200, `<html>` }, never},
		"disagreeing at first": {func(gone time.Duration) (int, string) {
			if gone < 3*time.Minute {
				return 200, pageOf("Finished", wonBy)
			}
			return 200, pageOf("Finished", wonBy, tied)
		}, settleBy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w, s, first := left(t, func() (int, string) { return c.page(w.gone()) })
			looks := testkit.Drain(w.World, finishQueue, settleBy+lastWords, s.FinishMatch)
			f := testkit.Row[fixture](w.World, fixtures, "7")
			if c.after < 0 {
				if f.FinishedAt != 0 || looks < 29 {
					t.Errorf("it is %+v after %d looks", f, looks)
				}
				if name == "in play" && f.ArchivedAt != 0 {
					t.Error("the loop no longer looks for it")
				}
				if n := len(testkit.Rows[follow](w.World, follows)); n != 61 {
					t.Errorf("%d follows are left", n)
				}
				if sent := testkit.Messages[MatchChanged](w.World, activityQueue); slices.ContainsFunc(sent, func(m MatchChanged) bool { return m.Ended != 0 }) {
					t.Errorf("it ends: %+v", sent)
				}
				return
			}
			when := at(4).Add(c.after)
			if f.EndingAt != when.Unix() || f.FinishedAt != when.Add(lastWords).Unix() || f.ArchivedAt == 0 || f.Live != "" || f.LiveUpdatedAt != 0 {
				t.Errorf("it is %+v, want it to end at %d", f, when.Unix())
			}
			if kept := testkit.Rows[follow](w.World, follows); len(kept) != 1 || kept[0].MatchID != "8" {
				t.Errorf("%d follows are left", len(kept))
			}
			if n := len(testkit.Rows[stateHash](w.World, stateHashes)); n != 0 {
				t.Errorf("%d hashes are left", n)
			}
			sent := testkit.Messages[MatchChanged](w.World, activityQueue)
			if last := sent[len(sent)-1]; last.Ended != when.Unix() {
				t.Errorf("it sends %+v", sent)
			}

			// Its second run, and one of a later message, do nothing.
			want := w.outcome()
			w.To(w.Clock.Now().Add(time.Minute))
			for _, m := range []MatchLeft{first, {MatchID: "7", Since: w.Clock.Now().Unix()}} {
				calls := w.Count(func() { testkit.Must(t, s.FinishMatch(w.Ctx(), m)) })
				if got := w.outcome(); !reflect.DeepEqual(got, want) || len(calls) != 1 {
					t.Errorf("a second run makes the calls %v, and\n%+v\nof\n%+v", calls, got, want)
				}
			}
		})
	}
}

// gone is for how long the match of left has been out of the feed.
func (w *world) gone() time.Duration { return w.Clock.Now().Sub(at(4)) }

func TestFinishSpares(t *testing.T) {
	t.Parallel()
	w, s, m := left(t, func() (int, string) { return 200, pageOf("Finished", tied) })
	f := testkit.Row[fixture](w.World, fixtures, "7")
	f.Live, f.LiveUpdatedAt, f.ArchivedAt = live, at(6).UnixMilli(), 0
	testkit.Put(w.World, fixtures, f)
	w.To(at(8))
	before := w.outcome()
	for _, m := range []MatchLeft{m, {MatchID: "9", Since: m.Since}} { // back in the feed; unknown
		testkit.Must(t, s.FinishMatch(w.Ctx(), m))
	}
	if got := w.outcome(); !reflect.DeepEqual(got, before) {
		t.Errorf("it does\n%+v\nto\n%+v", got, before)
	}
}

func TestFinishGivesUp(t *testing.T) {
	t.Parallel()
	w, s, m := left(t, func() (int, string) { return 500, "" })
	testkit.Drain(w.World, finishQueue, 0, func(_ context.Context, _ MatchLeft) error { return nil })
	w.To(at(4).Add(longestMatch + time.Minute))
	testkit.Must(t, s.FinishMatch(w.Ctx(), m))
	if sent := testkit.Messages[MatchLeft](w.World, finishQueue); len(sent) > 0 {
		t.Errorf("it goes on: %+v", sent)
	}
	if c := w.Logs.Complaints(); !slices.Contains(c, "the match never ended") {
		t.Errorf("nobody is told: %q", c)
	}
}

// TestWholeEnd plays a match to its end, with phones.
func TestWholeEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t).withPhones()
	m := w.play(4, cricsheet.T20, slotLength)
	phones := map[string]string{"local": id(m.Local.ID), "visitor": id(m.Visitor.ID), "neutral": ""}
	for name, team := range phones {
		w.subscribe(id(m.ID), name, team)
	}
	tk := w.ticker()
	s := testkit.Open(w.World, FinishMatchFunction, OpenFinisher)
	p := w.pusher(w.Env(PushActivitiesFunction))
	last := len(m.Frames) - 2
	for n := last - 5; n < last+15; n++ {
		w.tickAt(tk, n)
		testkit.Drain(w.World, finishQueue, 0, s.FinishMatch)
		testkit.Drain(w.World, activityQueue, 0, p.PushActivities)
	}
	testkit.Drain(w.World, finishQueue, lastWords, s.FinishMatch)
	want := map[string]string{}
	for name, team := range phones {
		view := matchOf(m, kickOff).perspective(team)
		want[name] = string(testkit.Row[shown](w.World, displays, displayKey(id(m.ID), view)).Display)
		if !strings.Contains(want[name], `"phase":"result"`) {
			t.Errorf("the %s perspective is %s", name, want[name])
		}
	}
	w.expect("after the match", want, true)
	if f := testkit.Row[fixture](w.World, fixtures, id(m.ID)); f.FinishedAt == 0 || f.Status != "Finished" || w.subscribed() != nil {
		t.Errorf("the match is %+v, with the subscriptions %q", f, w.subscribed())
	}
}

// A page that says once, between two days of a Test, that the match is gone or
// over does not end it, however long it has been out of the feed.
func TestOneSlipDoesNotEndAMatch(t *testing.T) {
	t.Parallel()
	for name, slip := range map[string]func() (int, string){
		"not there":            func() (int, string) { return http.StatusNotFound, `{"message":"no"}` },
		"over, with no winner": func() (int, string) { return http.StatusOK, pageOf("Finished") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looks := 0
			w, s, _ := left(t, func() (int, string) {
				if looks++; looks == 20 {
					return slip()
				}
				return http.StatusOK, pageOf("Stump Day 1")
			})
			testkit.Drain(w.World, finishQueue, 30*time.Minute, s.FinishMatch)
			if f := testkit.Row[fixture](w.World, fixtures, "7"); f.EndingAt != 0 || looks < 21 {
				t.Errorf("after %d looks: %+v", looks, f)
			}
		})
	}
}

// The loop goes on looking for a match that the feed dropped as finished and
// whose page says that it is in play.
func TestFalselyFinishedMatchIsLookedFor(t *testing.T) {
	t.Parallel()
	w, s, _ := left(t, func() (int, string) { return http.StatusOK, pageOf("2nd Innings") })
	f := testkit.Row[fixture](w.World, fixtures, "7")
	f.Status = "Finished"
	testkit.Put(w.World, fixtures, f)
	testkit.Drain(w.World, finishQueue, 3*time.Minute, s.FinishMatch)
	if f := testkit.Row[fixture](w.World, fixtures, "7"); f.Status != "2nd Innings" || f.ArchivedAt != 0 {
		t.Errorf("the row is left as %+v", f)
	}
}

// A match that is polled again after its page was read is not ended.
func TestPolledMatchIsNotEnded(t *testing.T) {
	t.Parallel()
	w, s, m := left(t, func() (int, string) { return http.StatusOK, pageOf("Finished", tied) })
	f := testkit.Row[fixture](w.World, fixtures, "7")
	asked := w.Clock.Now()
	page, err := s.provider.Fixture(w.Ctx(), "7")
	testkit.Must(t, err)
	_, err = s.enter(w.Ctx(), m.MatchID, page, asked, false)
	testkit.Must(t, err)
	w.says(saidOf(f, "2nd Innings", ballSaid{id: 1, runs: 1}, ballSaid{id: 2, runs: 4}))
	w.tickAt(w.ticker(), 6)
	if decided, err := s.decide(w.Ctx(), &f, asked); decided || err != nil {
		t.Errorf("its end is decided: %v, %v", decided, err)
	}
	if f := testkit.Row[fixture](w.World, fixtures, "7"); f.EndingAt != 0 || f.Live == "" {
		t.Errorf("the row is left as %+v", f)
	}
}

// A match that came back and has left again has a message of its own: looks at
// the provider's page do not add up.
func TestOneLookAtATime(t *testing.T) {
	t.Parallel()
	looks := 0
	w, s, first := left(t, func() (int, string) { looks++; return 200, pageOf("2nd Innings") })
	tk := w.ticker()
	f := testkit.Row[fixture](w.World, fixtures, "7")
	gone := w.said
	for n := 10; n < 100; n += 30 { // back for two polls, and away
		w.says(saidOf(f, "2nd Innings", ballSaid{id: 1, runs: 1}))
		w.tickAt(tk, n)
		w.tickAt(tk, n+1)
		w.said = gone
		w.tickAt(tk, n+2)
		w.tickAt(tk, n+6)
	}
	testkit.Must(t, s.FinishMatch(w.Ctx(), first))
	if looks != 0 {
		t.Errorf("the message of the first time asks, too")
	}
	handled := testkit.Drain(w.World, finishQueue, 0, s.FinishMatch)
	if left := len(testkit.Messages[MatchLeft](w.World, finishQueue)); looks != 1 || left != 1 {
		t.Errorf("of %d messages %d ask, and %d go on; want one", handled, looks, left)
	}
}
