package event_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

const myPicks = "/app/events/" + pickemtest.Show + "/predictions"

// TestPredictionReplacesThePrevious: the answer is the saved prediction, and no other item
// changes. Only members can predict.
func TestPredictionReplacesThePrevious(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	others := w.Rows()
	delete(others, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show))

	for _, picks := range []map[string]string{
		pickemtest.PicksOf(0, 1, 39),
		pickemtest.PicksOf(0, 1, 39),
		pickemtest.PicksOf(1),
		{},
	} {
		saved := testkit.Decode[event.Prediction](w.World,
			w.Ask(event.PutPredictionsFunction(), myPicks, "ann", map[string]any{"predictions": picks}))
		want := event.Prediction{Predictions: picks, SavedAt: pickemtest.Noon.Add(time.Hour)}

		var seen event.EventScreen
		w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)

		if !reflect.DeepEqual(saved, want) || !reflect.DeepEqual(*seen.Body.Prediction, want) {
			t.Errorf("answer of put-predictions (-want +got):\n%s\nprediction in get-event (-want +got):\n%s", cmp.Diff(want, saved),
				cmp.Diff(&want, seen.Body.Prediction))
		}
	}

	row := testkit.Row[map[string]any](w.World, tables.Pickem, "USER#ann", "EVENT#"+pickemtest.Show)
	for attribute, want := range map[string]any{
		"GSI_PK":    "EVENT#" + pickemtest.Show,
		"GSI_SK":    "SCORE#000#ann",
		"type":      "prediction",
		"belongsto": "USER#ann",
		"mcorrect":  0.0,
		"points":    0.0,
	} {
		if row[attribute] != want {
			t.Errorf("attribute %s is %v, want %v", attribute, row[attribute], want)
		}
	}

	all := w.Rows()
	if delete(all, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show)); !reflect.DeepEqual(all, others) {
		t.Errorf("other rows changed by ann's predictions (-was +is):\n%s", cmp.Diff(others, all))
	}

	if got, want := pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction(), myPicks, "eve", `{"predictions":{}}`)),
		(pickemtest.Refusal{Status: 403, Code: "not_a_member", Field: ""}); got != want {
		t.Errorf("a prediction of a user who is not a member: %v, want %v", got, want)
	}

	gone := item.NewMember("bob", "bob")
	gone.DeletedAt = item.FormatTime(pickemtest.Noon)
	testkit.PutRows(w.World, tables.Pickem, gone)

	if got, want := pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction(), myPicks, "bob", `{"predictions":{}}`)),
		(pickemtest.Refusal{Status: 403, Code: "not_a_member", Field: ""}); got != want {
		t.Errorf("a prediction of a deleted member: %v, want %v", got, want)
	}
}

// TestPicksOfAnOldCardAreRefused: cardRev in the request must be that of the present card.
func TestPicksOfAnOldCardAreRefused(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(2)

	var seen event.EventScreen
	w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
	pick := map[string]any{"predictions": pickemtest.PicksOf(0), "cardRev": seen.Body.CardRev}
	testkit.Decode[event.Prediction](w.World, w.Ask(event.PutPredictionsFunction(), myPicks, "ann", pick))

	changed := pickemtest.MatchOf(1, 10)
	delete(changed, "id")
	changed["teams"] = []map[string]any{{"members": []string{"Somebody else"}}, {"members": []string{"Right 1"}}}
	w.MustAdmin(event.UpdateMatchFunction(), "/admin/events/"+pickemtest.Show+"/matches/"+pickemtest.MatchID(1), changed)

	if err := testkit.CheckProblemCode(w.Ask(event.PutPredictionsFunction(), myPicks, "ann", pick), 409, "card_changed"); err != nil {
		t.Error(err)
	}

	// A client that has seen the change may pick, whatever has changed in other matches since.
	w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")

	first := seen.Body.Card[0]
	pick = map[string]any{"predictions": map[string]string{first.ID: first.Teams[0].ID}, "cardRev": seen.Body.CardRev}
	testkit.Decode[event.Prediction](w.World, w.Ask(event.PutPredictionsFunction(), myPicks, "ann", pick))
}

// TestDeletePredictionsTwice: a second request gets the same answer.
func TestDeletePredictionsTwice(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	want := w.Rows()
	delete(want, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show))

	for range 2 {
		if out := w.Ask(event.DeletePredictionsFunction(), myPicks, "ann", ""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("the answer is %d %s, want 204 without a body", out.StatusCode, out.Body)
		}

		if got := w.Rows(); !reflect.DeepEqual(got, want) {
			t.Errorf("rows (-want +got):\n%s", cmp.Diff(want, got))
		}
	}

	var seen event.EventScreen
	if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); seen.Body.Prediction != nil {
		t.Errorf("the prediction is %+v, want none", seen.Body.Prediction)
	}
}

// TestPicksAreRefusedFromLockAt: lockAt and the server's clock decide, also if lock-events has
// not run. The refusal has lockAt and the state.
func TestPicksAreRefusedFromLockAt(t *testing.T) {
	t.Parallel()

	nobody := func(*pickemtest.Room) {}
	for _, c := range []struct {
		name   string
		before func(*pickemtest.Room)
		at     time.Time
		lockAt time.Time // zero if picks are accepted
		state  string
	}{
		{"a second before lockAt", nobody, pickemtest.ShowLockAt.Add(-time.Second), time.Time{}, item.Upcoming},
		{"a nanosecond before lockAt", nobody, pickemtest.ShowLockAt.Add(-time.Nanosecond), time.Time{}, item.Upcoming},
		{"at lockAt, not locked by the job", nobody, pickemtest.ShowLockAt, pickemtest.ShowLockAt, item.Broadcast},
		{"long after lockAt, not locked by the job", nobody, pickemtest.ShowLockAt.AddDate(0, 0, 30), pickemtest.ShowLockAt, item.Broadcast},
		{"locked by the job", func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show) }, pickemtest.ShowLockAt,
			pickemtest.ShowLockAt, item.Broadcast},
		{"locked early by an administrator", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"state":"broadcast"}`)
		}, pickemtest.Noon.Add(time.Hour), pickemtest.ShowLockAt, item.Broadcast},
		{"lockAt moved forward", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"lockAt":"2026-03-02T00:00:00Z"}`)
		},
			time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), item.Broadcast},
		{"lockAt moved back", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"lockAt":"2026-03-08T12:00:00Z"}`)
		},
			pickemtest.ShowLockAt.Add(time.Hour - time.Second), time.Time{}, item.Upcoming},
		{"locked and reopened", func(w *pickemtest.Room) {
			w.LockEvent(pickemtest.Show)
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"state":"upcoming","lockAt":"2026-03-08T11:30:00Z"}`)
		}, pickemtest.ShowLockAt.Add(time.Hour/2 - time.Second), time.Time{}, item.Upcoming},
		{"scored", func(w *pickemtest.Room) {
			w.LockEvent(pickemtest.Show)
			w.EnterResults(pickemtest.Show, 0, 0, 0)
			w.Score(pickemtest.Show)
		}, pickemtest.ShowLockAt, pickemtest.ShowLockAt, item.Scored},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			c.before(w)
			w.MoveClock(c.at)

			was := w.Rows()
			for body, fn := range map[string]app.Function{
				`{"predictions":{}}`: event.PutPredictionsFunction(),
				"":                   event.DeletePredictionsFunction(),
			} {
				out := w.Ask(fn, myPicks, "ann", body)
				if c.lockAt.IsZero() {
					if out.StatusCode >= 300 {
						t.Errorf("%s: %d %s, want success", fn.Name, out.StatusCode, out.Body)
					}

					continue
				}

				var doc struct {
					LockAt time.Time
					State  string
				}
				testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))

				if got, want := pickemtest.RefusalOf(out),
					(pickemtest.Refusal{Status: 409, Code: "event_locked", Field: ""}); got != want || !doc.LockAt.Equal(c.lockAt) ||
					doc.State != c.state {
					t.Errorf("%s: %v with %+v, want %v with lockAt %v and state %s", fn.Name, got, doc, want, c.lockAt, c.state)
				}
			}

			if now := w.Rows(); !c.lockAt.IsZero() && !reflect.DeepEqual(now, was) {
				t.Errorf("rows changed by refused requests (-was +is):\n%s", cmp.Diff(was, now))
			}

			var seen event.EventScreen
			if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); seen.Body.State != c.state {
				t.Errorf("the state is %s, want %s", seen.Body.State, c.state)
			}
		})
	}
}

// TestConcurrentChangesDuringAPick: each case changes the event or the member between the read
// and the write of a request.
func TestConcurrentChangesDuringAPick(t *testing.T) {
	t.Parallel()

	update := func(body string) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), body)
		}
	}

	match := func(n int) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1),
				pickemtest.WithoutKey(pickemtest.MatchOf(n, 10), "id"))
		}
	}
	for _, c := range []struct {
		name   string
		do     func(*pickemtest.Room)
		put    string // the code for put-predictions, "" for success
		drop   string // the code for delete-predictions, "" for success
		always bool
	}{
		{"locked by an administrator", update(`{"state":"broadcast"}`), "event_locked", "event_locked", false},
		{"lockAt moved to now", update(`{"lockAt":"2026-03-01T13:00:00Z"}`), "event_locked", "event_locked", false},
		{"lockAt moved forward to a future time", update(`{"lockAt":"2026-03-01T13:00:01Z"}`), "", "", false},
		{"lockAt moved back", update(`{"lockAt":"2026-03-08T12:00:00Z"}`), "", "", false},
		{"locked by the job", func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show) }, "event_locked", "event_locked", false},
		{"event deleted", func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(pickemtest.Show), "")
		}, "event_not_found", "event_not_found", false},
		{"match added", func(w *pickemtest.Room) {
			w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(4, 1))
		}, "", "", false},
		{"picked match deleted", func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")
		}, "unknown_match", "", false},
		{"picked match changed", match(9), "invalid_team", "", false},
		{"card ordered", func(w *pickemtest.Room) {
			w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1))
		}, "", "", false},
		{"member deleted", func(w *pickemtest.Room) {
			gone := item.NewMember("ann", "ann")
			gone.DeletedAt = item.FormatTime(pickemtest.Noon)
			testkit.PutRows(w.World, tables.Pickem, gone)
		}, "not_a_member", "", false},
		{"card changed during every attempt", func(w *pickemtest.Room) {
			e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(pickemtest.Show))
			update(fmt.Sprintf(`{"bonus":%d}`, 1+(e.CardRev+e.Bonus)%900))(w)
		}, "changed", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			for _, drops := range []bool{false, true} {
				w := pickemtest.NewSeason(t)
				done, want := 0, map[string]map[string]any(nil)
				do := func() {
					if done++; done == 1 || c.always {
						c.do(w)
						want = w.Rows()
					}
				}

				var err error

				code := c.put
				if drops {
					code = c.drop
					in := &event.DeletePredictions{EventID: pickemtest.Show}
					in.UserID = "ann"
					_, err = testkit.OpenWith(w.World, w.InterruptEach(event.DeletePredictionsFunction(), "TransactWriteItems", do),
						event.OpenEvents).DeletePredictions(w.NewContext(), in)
				} else {
					in := &event.PutPredictions{EventID: pickemtest.Show}
					in.UserID, in.Body.Predictions = "ann", pickemtest.PicksOf(1)
					_, err = testkit.OpenWith(w.World, w.InterruptEach(event.PutPredictionsFunction(), "TransactWriteItems", do),
						event.OpenEvents).PutPredictions(w.NewContext(), in)
				}

				if pickemtest.CodeOf(err) != code || want == nil {
					t.Fatalf("delete-predictions %v: error %v, want code %q", drops, err, code)
				}

				got := w.Rows()
				if mine := got[item.UserRef("ann")+" "+item.EventRef(pickemtest.Show)]; code == "" {
					if drops && mine != nil || !drops && !reflect.DeepEqual(mine["predictions"], map[string]any{pickemtest.MatchID(1): "t2"}) {
						t.Errorf("delete-predictions %v: the stored prediction is %v", drops, mine)
					}
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("rows after a refused request (delete-predictions %v) (-want +got):\n%s", drops, cmp.Diff(want, got))
				}
			}
		})
	}
}

// TestPickIsRefusedIfLockAtPassesBeforeTheWrite: the time of the write decides, not that of the
// request.
func TestPickIsRefusedIfLockAtPassesBeforeTheWrite(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	w.MoveClock(pickemtest.ShowLockAt.Add(-time.Second))
	env := w.InterruptEach(event.PutPredictionsFunction(), "Query", func() { w.MoveClock(pickemtest.ShowLockAt) })
	in := &event.PutPredictions{EventID: pickemtest.Show}
	in.UserID = "ann"
	was := w.Rows()

	_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutPredictions(w.NewContext(), in)
	if pickemtest.CodeOf(err) != "event_locked" || !reflect.DeepEqual(w.Rows(), was) {
		t.Errorf("the error is %v, want event_locked; rows (-was +is):\n%s", err, cmp.Diff(was, w.Rows()))
	}
}

// TestGetResultsRanksAllMembers: each entry has the points of every pick.
func TestGetResultsRanksAllMembers(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	var seen event.ResultsScreen
	w.Read(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", "bob", &seen.Body)

	b := seen.Body
	if b.ID != pickemtest.ScoredShow || b.State != item.Scored || b.Updating || b.Count != 3 || b.Next != "" || len(b.Card) != 2 ||
		*b.Card[0].Result != 0 || *b.Card[1].Result != 1 {
		t.Errorf("the results are %+v, want those of %s with 3 entries", b, pickemtest.ScoredShow)
	}

	var got []string

	for _, e := range b.Entries {
		line := fmt.Sprintf("%d %s %d %d:", e.Rank, e.Name, e.Points, e.Correct)
		for i, p := range e.Picks {
			if p.MatchID != pickemtest.MatchID(i+1) || *p.Result != *b.Card[i].Result || p.Correct != (p.Points > 0) {
				t.Errorf("pick %d of %s is %+v, want the match and result of the card", i, e.Name, p)
			}

			if p.Pick == nil {
				line += " -"
			} else {
				line += fmt.Sprintf(" %d=%d", *p.Pick, p.Points)
			}
		}

		got = append(got, line)
	}

	if want := []string{"1 bob 20 1: 1=0 1=20", "2 ann 10 1: 0=10 0=0", "3 cat 0 0: 1=0 -"}; !slices.Equal(got, want) {
		t.Errorf("entries (-want +got):\n%s", cmp.Diff(want, got))
	}

	if b.Mine == nil || !reflect.DeepEqual(*b.Mine, b.Entries[0]) {
		t.Errorf("mine (-want +got):\n%s", cmp.Diff(&b.Entries[0], b.Mine))
	}

	var own event.EventScreen
	w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.ScoredShow), "bob", &own.Body)

	if !reflect.DeepEqual(*own.Body.Prediction.Score, b.Mine.Sheet) {
		t.Errorf("score in get-event (-want +got):\n%s", cmp.Diff(&b.Mine.Sheet, own.Body.Prediction.Score))
	}

	w.AddMembers("eve")

	var other event.ResultsScreen
	if w.Read(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", "eve", &other.Body); other.Body.Mine != nil {
		t.Errorf("mine of a member without a prediction is %+v, want none", other.Body.Mine)
	}
}

// TestLongPickIsRefused: a pick that no team can have is refused by its length, and is not in
// the answer.
func TestLongPickIsRefused(t *testing.T) {
	t.Parallel()

	w := pickemtest.NewSeason(t)
	for pick, want := range map[string]string{"t9999999": "invalid_team", "t99999999": "invalid", strings.Repeat("x", 60_000): "invalid"} {
		out := w.Ask(event.PutPredictionsFunction(), myPicks, "ann",
			map[string]any{"predictions": map[string]string{pickemtest.MatchID(1): pick}})
		if got, want := pickemtest.RefusalOf(out),
			(pickemtest.Refusal{Status: 422, Code: want, Field: "body.predictions." + pickemtest.MatchID(1)}); got != want || len(out.Body) > 500 {
			t.Errorf("a pick of %d bytes: %v in %d bytes, want %v", len(pick), got, len(out.Body), want)
		}

		if want == "invalid" && !strings.Contains(out.Body, "expected length <= 8") {
			t.Errorf("a pick of %d bytes: %s, want the longest", len(pick), out.Body)
		}
	}
}

// FuzzPutPredictions: the answer to any body is a problem or the saved prediction.
func FuzzPutPredictions(f *testing.F) {
	id := pickemtest.MatchID(1)
	for _, seed := range []string{
		`{"predictions":{}}`, `{"predictions":{"` + id + `":1}}`, `{"predictions":{"` + id + `":2}}`, `{"predictions":{"` + id + `":-1}}`,
		`{"predictions":{"` + id + `":1e300}}`,
		`{"predictions":{"` + id + `":null}}`, `{"predictions":{"":0}}`, `{"predictions":{"\u0000":0}}`, `{"predictions":null}`,
		`{"predictions":[]}`, `{"Predictions":{}}`,
		`{"predictions":{"` + id + `":1},"predictions":{}}`, `{"predictions":{"` + id + `":1,"` + id + `":0}}`, `{}`,
		`null`, `[]`, `{`, "\xff", ``,
	} {
		f.Add(seed)
	}

	w := pickemtest.NewSeason(f)
	f.Fuzz(func(t *testing.T, body string) {
		w.T = t

		out := w.Ask(event.PutPredictionsFunction(), myPicks, "ann", body)
		switch {
		case out.StatusCode == http.StatusOK:
			saved := testkit.Row[item.Prediction](w.World, tables.Pickem, item.UserRef("ann"), item.EventRef(pickemtest.Show)).Predictions
			if got := testkit.Decode[event.Prediction](w.World, out).Predictions; !maps.Equal(got, saved) {
				t.Fatalf("%q: the answer is %v and the saved picks are %v, want the same", body, got, saved)
			}

			for id, team := range saved {
				m := testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(pickemtest.Show), item.MatchSK(id))
				if m.Team(team) < 0 {
					t.Fatalf("%q is saved as %v, want picks of existing teams", body, saved)
				}
			}
		case out.StatusCode >= 500 || pickemtest.RefusalOf(out).Code == "" && pickemtest.RefusalOf(out).Status < 400:
			t.Fatalf("%q: %d %s, want a problem or success", body, out.StatusCode, out.Body)
		}
	})
}
